// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcfmedium hwsim: the MAC core as the medium of mac80211_hwsim's radios.
 *
 * One loop sleeps in epoll until a radio hands in a frame, the core's next
 * event is due, or a signal arrives. It never polls, because in a lab kernel
 * virtual time passes only while every process sleeps.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/mac.h"
#include "edca.h"
#include "hwsim.h"
#include "hwsim_abi.h"
#include "hwsim_link.h"
#include "hwsim_options.h"
#include "late_status.h"
#include "link_option.h"
#include "mac_options.h"
#include "options.h"
#include "station_option.h"
#include "stats_json.h"
#include "trace/recording.h"
#include "trace/trace_writer.h"

#define FCS_BYTES	4

/* Shortest frame with a receiver address, and where that is (8.2.4). */
#define MPDU_MIN	10
#define FC0_NO_PAYLOAD	0x40

/* A frame between its arrival and its TX status. */
struct pending_frame {
	struct mac_frame mac;
	struct hwsim_frame hwsim;
	uint8_t bytes[];
};

struct front_end {
	struct hwsim_options options;
	struct mac mac;
	struct hwsim_link *link;
	struct late_statuses late;
	struct integrity integrity;
	uint64_t in_hand;	/* frames taken and without TX status yet */
	ns_t now;

	int epoll_fd;
	int timer_fd;
	int signal_fd;
	ns_t armed;
	bool stop;
};

static struct pending_frame *pending_frame(const struct mac_frame *frame)
{
	return (struct pending_frame *)((char *)frame -
				    offsetof(struct pending_frame, mac));
}

static ns_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static struct hwsim_sent_at sent_at(const struct front_end *fe,
				    const struct mac_frame *frame)
{
	const struct phy_profile *phy = fe->mac.config.phy;
	unsigned int rate = frame_rate(phy, frame);
	struct hwsim_sent_at at = {
		.index = hwsim_rate_index(pending_frame(frame)->hwsim.freq, rate),
	};

	at.has_mcs = hwsim_rate_mcs(rate, phy, &at.mcs);
	return at;
}

static void deliver_to(struct front_end *fe, int to,
		       const struct mac_frame *frame)
{
	struct hwsim_sent_at rate = sent_at(fe, frame);
	uint8_t radio[MAC_ADDR_LEN];

	memcpy(radio, fe->mac.stations[to].config.addr, MAC_ADDR_LEN);
	radio[0] |= HWSIM_ADDRESS_BIT;
	hwsim_deliver(fe->link, radio, &pending_frame(frame)->hwsim, &rate,
		      frame->to == MAC_EVERYBODY);
}

/*
 * Where a radio listens shows only when it sends. One that scans passively may be
 * on another channel than we think: it is offered what is sent to all there, and
 * hwsim, which knows, refuses what it cannot hear.
 */
static bool tuned_away(const struct front_end *fe, int from, int to)
{
	return fe->mac.stations[from].config.freq !=
	       fe->mac.stations[to].config.freq;
}

static void on_deliver(void *ctx, int from, struct mac_frame *frame)
{
	struct front_end *fe = ctx;

	/* Its ACK was lost: the Retry bit tells the receiver to drop it. */
	if (frame->arrived)
		pending_frame(frame)->bytes[1] |= FC1_RETRY;
	if (frame->to >= 0)
		deliver_to(fe, frame->to, frame);
	if (frame->to != MAC_EVERYBODY)
		return;
	for (int i = 0; i < fe->mac.n_stations; i++)
		if (mac_is_peer(&fe->mac, from, i) &&
		    (mac_reaches(&fe->mac, from, i, frame) ||
		     tuned_away(fe, from, i)))
			deliver_to(fe, i, frame);
}

static void on_status(void *ctx, int from, struct mac_frame *frame, bool acked)
{
	struct front_end *fe = ctx;
	const struct hwsim_frame *hwsim = &pending_frame(frame)->hwsim;
	struct hwsim_sent_at rate = sent_at(fe, frame);
	const struct hwsim_tx_rate fixed[HWSIM_TX_RATES] = {
		{ rate.index, frame->attempts },
		{ -1, 0 }, { -1, 0 }, { -1, 0 },
	};
	bool chosen = rate_chain_attempts(&frame->chain);
	struct hwsim_status status = {
		.cookie = hwsim->cookie, .flags = hwsim->flags, .acked = acked,
		.has_mcs = rate.has_mcs && !chosen, .mcs = rate.mcs,
	};

	memcpy(status.radio, hwsim->radio, MAC_ADDR_LEN);
	/* In their places: hwsim keeps the flags that it has for each. */
	hwsim_tries_done(chosen ? hwsim->rates.tries : fixed, frame->attempts,
			 status.done);
	late_status_give(&fe->late, from, fe->now,
			 fe->mac.stations[from].config.status_delay, &status);
	fe->in_hand--;
}

static void on_done(void *ctx, int from, struct mac_frame *frame)
{
	(void)ctx;
	(void)from;
	free(pending_frame(frame));
}

static void on_attempt(void *ctx, int from, const struct mac_attempt *attempt)
{
	struct front_end *fe = ctx;
	const struct hwsim_frame *hwsim;
	struct trace_frame frame;

	if (attempt->frame->is_bar) {
		trace_writer_made_up(&fe->options.trace, &fe->mac, from, attempt);
		return;
	}
	hwsim = &pending_frame(attempt->frame)->hwsim;
	frame = (struct trace_frame){ hwsim->bytes, hwsim->length, hwsim->freq };
	trace_writer_attempt(&fe->options.trace, &fe->mac, from, attempt, &frame);
}

static const struct mac_ops hwsim_ops = {
	.attempt = on_attempt,
	.deliver = on_deliver,
	.status = on_status,
	.done = on_done,
};

static int add_station(struct front_end *fe,
		       const struct mac_station_config *config)
{
	int station = mac_add_station(&fe->mac, config);

	if (station >= 0)
		recording_station(&fe->options.recording, fe->now, config);
	return station;
}

/*
 * With EDCA a radio is four stations in a row. Best effort comes first: it has
 * the radio's name, and is whom frames to the radio are for.
 */
static const enum edca_category category_order[EDCA_CATEGORIES] = {
	EDCA_BE, EDCA_BK, EDCA_VI, EDCA_VO,
};

/* The first station of a new radio; -1 if there is no room for it. */
static int add_radio(struct front_end *fe, const struct mac_station_config *config,
		     const struct edca_parameters *categories)
{
	int first = fe->mac.n_stations;

	if (!fe->options.edca)
		return add_station(fe, config);
	if (first + EDCA_CATEGORIES > MAC_MAX_STATIONS)
		return -1;
	for (int i = 0; i < EDCA_CATEGORIES; i++) {
		enum edca_category category = category_order[i];
		struct mac_station_config station = *config;

		edca_apply(&categories[category], category, &station);
		station.radio = first / EDCA_CATEGORIES + 1;
		if (i)
			snprintf(station.name, sizeof(station.name), "%.*s-%s",
				 MAC_NAME_LEN - 4, config->name,
				 edca_names[category]);
		add_station(fe, &station);
	}
	return first;
}

/* Of the radio whose first station is @radio, the one that sends @mpdu. */
static int station_for(const struct front_end *fe, int radio,
		       const struct hwsim_frame *frame)
{
	enum edca_category category = edca_category_of(frame->bytes, frame->length);
	int i = 0;

	while (fe->options.edca && category_order[i] != category)
		i++;
	return radio + i;
}

/* Frames of the radio whose first station is @radio that hwsim has pending. */
static unsigned int pending(const struct front_end *fe, int radio)
{
	unsigned int frames = 0;

	for (int i = 0; i < (fe->options.edca ? EDCA_CATEGORIES : 1); i++)
		frames += fe->mac.stations[radio + i].backlog +
			  fe->late.of_station[radio + i];
	return frames;
}

/* The first station of the sender; a radio not declared gets the defaults. */
static int sender_of(struct front_end *fe, const struct hwsim_frame *frame)
{
	struct mac_station_config config = fe->options.defaults;
	int from;

	memcpy(config.addr, frame->radio, MAC_ADDR_LEN);
	config.addr[0] &= ~HWSIM_ADDRESS_BIT;
	from = mac_find_station(&fe->mac, config.addr);
	if (from != MAC_NOBODY)
		return from;
	name_after_address(&config);
	config.freq = frame->freq;
	return add_radio(fe, &config, fe->options.categories[MAC_MAX_STATIONS]);
}

static void set_channel(struct front_end *fe, int station, unsigned int freq)
{
	recording_channel(&fe->options.recording, fe->now, station, freq);
	mac_set_channel(&fe->mac, station, freq);
}

/*
 * The radio whose first station is @radio sends at @freq, so that is its channel.
 * Radios not heard from yet are taken to be there too.
 */
static void tune(struct front_end *fe, int radio, unsigned int freq)
{
	const uint8_t *addr = fe->mac.stations[radio].config.addr;

	if (!freq || fe->mac.stations[radio].config.freq == freq)
		return;
	for (int i = 0; i < fe->mac.n_stations; i++) {
		const struct mac_station_config *s = &fe->mac.stations[i].config;

		if (!s->freq || !memcmp(s->addr, addr, MAC_ADDR_LEN))
			set_channel(fe, i, freq);
	}
}

/* What the core must know of a frame, from its header (8.2.4). */
static void classify(struct front_end *fe, struct pending_frame *frame)
{
	const uint8_t *mpdu = frame->bytes;
	const uint8_t *addr1 = mpdu + MPDU_ADDR1;
	bool group = addr1[0] & 1;
	bool data = (mpdu[0] & FC0_TYPE) == FC0_TYPE_DATA;

	frame->mac = (struct mac_frame){
		.to = group ? MAC_EVERYBODY : mac_find_station(&fe->mac, addr1),
		.bytes = frame->hwsim.length + FCS_BYTES,
		.wants_ack = !group &&
			     !(frame->hwsim.flags & HWSIM_TX_CTL_NO_ACK),
		.basic_rate = group || !data,
		.carries_data = !group && data && !(mpdu[0] & FC0_NO_PAYLOAD),
		.is_tcp_ack = !group && mpdu_is_tcp_ack(mpdu, frame->hwsim.length),
	};
}

/*
 * A station's rate holds in both directions: data to it is as slow, unless the
 * sender has a rate of its own. 0: the core decides.
 */
static unsigned int receivers_rate(const struct front_end *fe, int from,
				   const struct mac_frame *frame)
{
	const struct mac_station *stations = fe->mac.stations;

	if (frame->basic_rate || frame->to < 0 || stations[from].config.rate)
		return 0;
	return stations[frame->to].config.rate;
}

static void on_frame(void *ctx, const struct hwsim_frame *hwsim)
{
	struct front_end *fe = ctx;
	struct pending_frame *frame;
	int radio, from;

	if (hwsim->length < MPDU_MIN || hwsim->length > HWSIM_FRAME_MAX) {
		fe->integrity.malformed++;
		return;
	}
	radio = sender_of(fe, hwsim);
	if (radio < 0) {
		fe->integrity.unknown_station++;
		return;
	}
	tune(fe, radio, hwsim->freq);
	from = station_for(fe, radio, hwsim);
	frame = malloc(sizeof(*frame) + hwsim->length);
	if (!frame)
		fatal("out of memory");
	frame->hwsim = *hwsim;
	memcpy(frame->bytes, hwsim->bytes, hwsim->length);
	frame->hwsim.bytes = frame->bytes;
	classify(fe, frame);
	frame->mac.rate = receivers_rate(fe, from, &frame->mac);
	if (fe->options.config.kernel_rates &&
	    !hwsim_rate_chain(&hwsim->rates, hwsim->freq, fe->options.config.phy,
			      &frame->mac.chain))
		fe->integrity.unknown_rate++;
	fe->in_hand++;
	recording_frame(&fe->options.recording, fe->now, from, &frame->mac);
	mac_enqueue(&fe->mac, from, &frame->mac, fe->now);
	if (pending(fe, radio) >= HWSIM_QUEUE_LIMIT)
		fe->integrity.queue_overflow++;
}

static void write_stats(struct front_end *fe)
{
	uint64_t queued = 0;

	for (int i = 0; i < fe->mac.n_stations; i++)
		queued += fe->mac.stations[i].backlog;
	fe->integrity.lost = fe->in_hand - queued;
	if (!fe->options.stats)
		return;
	stats_write(fe->options.stats, &fe->mac, fe->now, &fe->integrity, NULL);
	if (fclose(fe->options.stats))
		fatal("--stats: cannot write: %s", strerror(errno));
}

static void mark(struct front_end *fe)
{
	recording_mark(&fe->options.recording, fe->now);
	mac_mark(&fe->mac, fe->now);
}

static void spare_losses(struct front_end *fe)
{
	recording_lossless(&fe->options.recording, fe->now);
	mac_spare_losses(&fe->mac);
}

static void take_signal(struct front_end *fe)
{
	struct signalfd_siginfo info;

	if (read(fe->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGUSR1) {
		fe->stop = true;
		return;
	}
	mark(fe);
	memset(&fe->integrity, 0, sizeof(fe->integrity));
}

static void watch(struct front_end *fe, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (fd < 0 || epoll_ctl(fe->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		fatal("cannot set up epoll: %s", strerror(errno));
}

static void open_events(struct front_end *fe)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fe->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	fe->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	fe->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch(fe, fe->signal_fd, EPOLLIN);
	/* Edge triggered: setting it anew forgets an expiry, no read needed. */
	watch(fe, fe->timer_fd, EPOLLIN | EPOLLET);
	watch(fe, hwsim_fd(fe->link), EPOLLIN);
}

static void arm_timer(struct front_end *fe)
{
	ns_t late = late_status_next(&fe->late), next = mac_next(&fe->mac);
	struct itimerspec when = { 0 };

	if (late < next)
		next = late;
	if (next == fe->armed)
		return;
	fe->armed = next;
	if (next != NS_NEVER) {
		when.it_value.tv_sec = next / NS_PER_S;
		when.it_value.tv_nsec = next % NS_PER_S;
	}
	if (timerfd_settime(fe->timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
		fatal("cannot set the timer: %s", strerror(errno));
}

static void wake_up(struct front_end *fe)
{
	struct epoll_event events[3];
	bool timer = false, frames = false, signalled = false;
	int n = epoll_wait(fe->epoll_fd, events, 3, -1);

	for (int i = 0; i < n; i++) {
		timer |= events[i].data.fd == fe->timer_fd;
		signalled |= events[i].data.fd == fe->signal_fd;
		frames |= events[i].data.fd == hwsim_fd(fe->link);
	}
	/* The timer alone: it is as late as we like, so save a system call. */
	fe->now = timer && !frames && !signalled ? fe->armed : clock_now();
	mac_advance(&fe->mac, fe->now);
	late_status_report(&fe->late, fe->now);
	recording_advance(&fe->options.recording);
	if (frames)
		hwsim_receive(fe->link, on_frame, fe);
	if (signalled)
		take_signal(fe);
	hwsim_flush(fe->link);
}

int hwsim_command(int argc, char **argv)
{
	static struct front_end fe = { .armed = NS_NEVER };

	hwsim_parse_options(&fe.options, argc, argv);
	mac_init(&fe.mac, &fe.options.config, &hwsim_ops, &fe);
	for (int i = 0; i < fe.options.n_stations; i++) {
		add_radio(&fe, &fe.options.stations[i], fe.options.categories[i]);
		trace_writer_station(&fe.options.trace, &fe.options.stations[i]);
	}
	check_names(&fe.mac);
	fe.late.link = fe.link = hwsim_open(&fe.integrity);
	open_events(&fe);
	fe.now = clock_now();
	mark(&fe);
	if (fe.options.losses_from_mark)
		spare_losses(&fe);
	puts("ready");
	fflush(stdout);

	while (!fe.stop) {
		arm_timer(&fe);
		wake_up(&fe);
	}
	write_stats(&fe);
	recording_end(&fe.options.recording, fe.now, fe.mac.digest);
	trace_writer_end(&fe.options.trace);
	mac_end(&fe.mac);
	late_status_end(&fe.late);
	hwsim_close(fe.link);
	return EXIT_SUCCESS;
}
