// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hwsim front end against messages no kernel would send: truncated, with
 * wrong lengths, with random octets, unknown attributes, strange frames, and
 * floods. It must not crash (the sanitized build looks closer), must decode what
 * is sound, must count each frame under the one cause it has, and must give
 * every frame it took one TX status.
 *
 * The front end's own functions are called, on one end of a socket pair, so
 * both its sources are part of this program. An argument is the number of
 * messages.
 */
#define _GNU_SOURCE
#include <sys/socket.h>

#include "../hwsim/hwsim.c"
#include "../hwsim/hwsim_link.c"
#include "phy/phy_profile.h"

#include "tap.h"

#define FAMILY		0x1c
#define MESSAGE_MAX	4096
/* Messages after which the queues may empty. */
#define ROUND		5000

static long messages = 50000;

static struct rng chance;

/* What put_frame() put into a message. */
struct sound_frame {
	uint8_t radio[MAC_ADDR_LEN];
	uint64_t cookie;
	uint32_t flags, freq;
	size_t length;
};

/*
 * A front end under test, and what is known of its frames without it. Cookies
 * are random, so equal counts and sums are equal sets.
 */
struct trial {
	struct front_end *fe;
	int peer;		/* the kernel's end of the socket */
	uint64_t taken, taken_cookies;
	uint64_t reported, reported_cookies;
	const struct sound_frame *sound;	/* the message in hand; NULL: spoilt */
	unsigned int handed;	/* frames decoded from it */
	int *failures;
};

static bool one_in(unsigned int n)
{
	return !rng_below(&chance, n);
}

/* Rates that may be the profile's, and others; sometimes of a wrong length. */
static void put_rates(struct nlmsghdr *nlh)
{
	struct hwsim_tx_rate tries[HWSIM_TX_RATES + 1];
	struct hwsim_tx_rate_flag flags[HWSIM_TX_RATES + 1];
	bool mcs = one_in(2);

	for (int i = 0; i <= HWSIM_TX_RATES; i++) {
		int8_t index = one_in(8) ? (int)rng_below(&chance, 256) - 128
					 : (int)rng_below(&chance, 8);

		tries[i] = (struct hwsim_tx_rate){
			index, one_in(64) ? 255 : rng_below(&chance, 4),
		};
		flags[i] = (struct hwsim_tx_rate_flag){
			index, one_in(8) ? rng_next(&chance) : 8 * mcs,
		};
	}
	if (one_in(16))
		return;
	put_attribute(nlh, HWSIM_ATTR_TX_INFO, tries,
		      one_in(16) ? rng_below(&chance, sizeof(tries) + 1)
				 : HWSIM_TX_RATES * sizeof(tries[0]));
	if (one_in(16))
		return;
	put_attribute(nlh, HWSIM_ATTR_TX_INFO_FLAGS, flags,
		      one_in(16) ? rng_below(&chance, sizeof(flags) + 1)
				 : HWSIM_TX_RATES * sizeof(flags[0]));
}

/* A frame as mac80211_hwsim hands it in, of a radio among @radios. */
static size_t put_frame(uint8_t *bytes, unsigned int radios,
			struct sound_frame *sound)
{
	struct hwsim_link *scratch = calloc(1, sizeof(*scratch));
	/* One of them is busier than all the others together. */
	uint8_t number = one_in(2) ? 0 : rng_below(&chance, radios);
	uint8_t radio[] = { 0x42, 0, 0, 0, number, 0 };
	uint8_t mpdu[256] = { 0x08, 0, 0, 0, 2, 0, 0, 0,
			      rng_below(&chance, radios), 0 };
	struct nlmsghdr *nlh;
	size_t length;

	if (one_in(4))
		memset(mpdu + MPDU_ADDR1, 0xff, MAC_ADDR_LEN);
	if (one_in(8))
		mpdu[0] = rng_next(&chance);
	if (one_in(2))
		mpdu[0] = 0x88;	/* QoS data */
	mpdu[24] = rng_next(&chance);
	scratch->family = FAMILY;
	nlh = put_message(scratch, HWSIM_CMD_FRAME, MESSAGE_CHECKED, 0);
	*sound = (struct sound_frame){
		.cookie = rng_next(&chance),
		.flags = rng_below(&chance, 8),
		.freq = one_in(2) ? 2412 : 5180,
		.length = one_in(8) ? rng_below(&chance, sizeof(mpdu))
				    : sizeof(mpdu),
	};
	memcpy(sound->radio, radio, sizeof(radio));
	put_attribute(nlh, HWSIM_ATTR_ADDR_TRANSMITTER, radio, sizeof(radio));
	put_attribute(nlh, HWSIM_ATTR_FRAME, mpdu, sound->length);
	put_u32(nlh, HWSIM_ATTR_FLAGS, sound->flags);
	put_u32(nlh, HWSIM_ATTR_FREQ, sound->freq);
	put_rates(nlh);
	put_attribute(nlh, HWSIM_ATTR_COOKIE, &sound->cookie,
		      sizeof(sound->cookie));
	length = nlh->nlmsg_len;
	memcpy(bytes, nlh, length);
	free(scratch);
	return length;
}

/* Spoil a message in one of the ways listed above; returns its length. */
static size_t spoil(uint8_t *bytes, size_t length)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)bytes;
	uint16_t attribute;

	switch (rng_below(&chance, 6)) {
	case 0:
		return rng_below(&chance, length + 1);
	case 1:
		nlh->nlmsg_len = rng_next(&chance) >> rng_below(&chance, 64);
		return length;
	case 2:
		/* The first attribute's length, then its type. */
		attribute = rng_next(&chance);
		memcpy(bytes + NLMSG_LENGTH(GENL_HDRLEN) + 2 * one_in(2),
		       &attribute, sizeof(attribute));
		return length;
	case 3:
		for (size_t i = NLMSG_HDRLEN; i < length; i++)
			if (one_in(16))
				bytes[i] = rng_next(&chance);
		return length;
	case 4:
		nlh->nlmsg_type = one_in(2) ? NLMSG_DONE : rng_next(&chance);
		return length;
	default:
		for (size_t i = 0; i < length; i++)
			bytes[i] = rng_next(&chance);
		return length;
	}
}

/* An error reply; ENOENT, hwsim's end, would rightly end the program. */
static bool means_the_end(const uint8_t *bytes, size_t length)
{
	struct nlmsghdr nlh;
	int32_t error;

	if (length < NLMSG_LENGTH(sizeof(error)))
		return false;
	memcpy(&nlh, bytes, sizeof(nlh));
	memcpy(&error, bytes + NLMSG_HDRLEN, sizeof(error));
	return nlh.nlmsg_type == NLMSG_ERROR && error == -ENOENT;
}

/* Read what the front end has sent, and note each TX status. */
static void take_reports(struct trial *trial)
{
	static uint8_t bytes[OUTGOING_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	int length;

	while ((length = recv(trial->peer, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)bytes;

		for (; nlmsg_ok(nlh, length); nlh = nlmsg_next(nlh, &length)) {
			const struct genlmsghdr *genl = nlmsg_data(nlh);
			struct nlattr *cookie;

			if (genl->cmd != HWSIM_CMD_TX_INFO_FRAME)
				continue;
			cookie = nlmsg_find_attr(nlh, GENL_HDRLEN,
						 HWSIM_ATTR_COOKIE);
			trial->reported++;
			trial->reported_cookies += nla_get_u64(cookie);
		}
	}
}

/* Whether the radio of @frame is known, or there is room for one more. */
static bool has_place(const struct front_end *fe, const struct hwsim_frame *frame)
{
	uint8_t addr[MAC_ADDR_LEN];

	memcpy(addr, frame->radio, sizeof(addr));
	addr[0] &= ~HWSIM_ADDRESS_BIT;
	return mac_find_station(&fe->mac, addr) != MAC_NOBODY ||
	       fe->mac.n_stations + (fe->options.edca ? EDCA_CATEGORIES : 1) <=
	       MAC_MAX_STATIONS;
}

/* on_frame(), which is to take the frame or count it once, under its cause. */
static void check_frame(void *ctx, const struct hwsim_frame *frame)
{
	struct trial *trial = ctx;
	struct front_end *fe = trial->fe;
	const struct sound_frame *sound = trial->sound;
	struct integrity before = fe->integrity;
	uint64_t in_hand = fe->in_hand;
	bool readable = frame->length >= 10 && frame->length <= 2352;
	bool place = has_place(fe, frame);
	int *failures = trial->failures;

	trial->handed++;
	on_frame(fe, frame);
	EXPECT_EQ(fe->integrity.malformed - before.malformed, !readable);
	EXPECT_EQ(fe->integrity.unknown_station - before.unknown_station,
		  readable && !place);
	EXPECT_EQ(fe->in_hand - in_hand, readable && place);
	if (readable && place) {
		trial->taken++;
		trial->taken_cookies += frame->cookie;
	}
	if (sound)
		EXPECT(!memcmp(frame->radio, sound->radio, MAC_ADDR_LEN) &&
		       frame->cookie == sound->cookie &&
		       frame->flags == sound->flags &&
		       frame->freq == sound->freq &&
		       frame->length == sound->length);
}

/*
 * @modern: with EDCA, the kernel's rates and an SNR at which some of them fail.
 */
static struct trial trial_begin(bool modern, int *failures)
{
	struct front_end *fe = calloc(1, sizeof(*fe));
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		exit(EXIT_FAILURE);
	fe->options.config = mac_defaults(phy_find("ht20"));
	fe->options.defaults.retry_limit = RETRY_DEFAULT;
	fe->options.defaults.cw_min = 16;
	fe->options.defaults.cw_max = 1024;
	fe->options.edca = modern;
	edca_defaults(fe->options.config.phy,
		      fe->options.categories[MAC_MAX_STATIONS]);
	fe->options.config.kernel_rates = modern;
	fe->options.config.channel.kind = modern ? CHANNEL_SNR : CHANNEL_IDEAL;
	fe->options.config.channel.snr_db = 15;
	mac_init(&fe->mac, &fe->options.config, &hwsim_ops, fe);
	fe->link = calloc(1, sizeof(*fe->link));
	fe->late.link = fe->link;
	fe->link->fd = fds[0];
	fe->link->family = FAMILY;
	fe->link->integrity = &fe->integrity;
	return (struct trial){ .fe = fe, .peer = fds[1], .failures = failures };
}

/* Time passes until nothing is queued; then all taken have their status. */
static void play_out(struct trial *trial)
{
	struct front_end *fe = trial->fe;
	int *failures = trial->failures;

	for (ns_t next; (next = mac_next(&fe->mac)) != NS_NEVER;) {
		fe->now = next;
		mac_advance(&fe->mac, next);
		hwsim_flush(fe->link);
		take_reports(trial);
	}
	EXPECT_EQ(fe->in_hand, 0);
	EXPECT_EQ(trial->reported, trial->taken);
	EXPECT_EQ(trial->reported_cookies, trial->taken_cookies);
}

static void trial_end(struct trial *trial)
{
	mac_end(&trial->fe->mac);
	close(trial->fe->link->fd);
	close(trial->peer);
	free(trial->fe->link);
	free(trial->fe);
}

static void feed(struct trial *trial, uint8_t *bytes, size_t length,
		 const struct sound_frame *sound)
{
	/* A buffer of just that length, so that reading beyond it shows. */
	uint8_t *exact = malloc(length ? length : 1);
	int *failures = trial->failures;

	memcpy(exact, bytes, length);
	trial->sound = sound;
	trial->handed = 0;
	take_datagram(trial->fe->link, exact, length, check_frame, trial);
	if (sound)
		EXPECT_EQ(trial->handed, 1);
	free(exact);
}

static void play(bool modern, unsigned int radios, unsigned int spoilt_in,
		 ns_t pause, int *failures)
{
	uint8_t bytes[MESSAGE_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct trial trial = trial_begin(modern, failures);
	struct front_end *fe = trial.fe;
	struct integrity seen;

	for (long i = 0; i < messages / 4; i++) {
		struct sound_frame frame;
		size_t length = put_frame(bytes, radios, &frame);
		bool spoilt = one_in(spoilt_in);

		if (spoilt)
			length = spoil(bytes, length);
		if (means_the_end(bytes, length))
			continue;
		fe->now += rng_below(&chance, pause);
		mac_advance(&fe->mac, fe->now);
		feed(&trial, bytes, length, spoilt ? NULL : &frame);
		hwsim_flush(fe->link);
		take_reports(&trial);
		if (i % ROUND == ROUND - 1)
			play_out(&trial);
	}
	play_out(&trial);
	seen = fe->integrity;
	EXPECT(trial.taken > 0);
	EXPECT(seen.malformed > 0);
	EXPECT_EQ(seen.unknown_rate > 0, modern);
	if (radios > MAC_MAX_STATIONS)
		EXPECT(seen.unknown_station > 0);
	if (pause < NS_PER_US)
		EXPECT(seen.queue_overflow > 0);
	trial_end(&trial);
}

static void spoilt_messages(int *failures)
{
	play(false, 20, 2, 2000 * NS_PER_US, failures);
}

static void spoilt_rates(int *failures)
{
	play(true, 20, 2, 2000 * NS_PER_US, failures);
}

/* Faster than the air, from more radios than there can be. */
static void floods(int *failures)
{
	play(false, 200, 10, 500, failures);
}

static void modern_floods(int *failures)
{
	play(true, 200, 10, 500, failures);
}

int main(int argc, char **argv)
{
	static const struct tap_case cases[] = {
		{ "spoilt messages are counted and survived", spoilt_messages },
		{ "and with EDCA, the kernel's rates and losses", spoilt_rates },
		{ "floods are counted and survived", floods },
		{ "and with EDCA, the kernel's rates and losses", modern_floods },
		{ }
	};

	if (argc > 1)
		messages = strtol(argv[1], NULL, 10);
	rng_seed(&chance, 1, 0);
	return tap_run(cases);
}
