/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink side of the hwsim front end. It decodes the messages of
 * mac80211_hwsim and sends messages to it. Several messages go in one datagram,
 * because each system call takes long in a User-mode Linux guest.
 */
#ifndef DCFMEDIUM_HWSIM_LINK_H
#define DCFMEDIUM_HWSIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mac.h"
#include "hwsim_rates.h"
#include "stats_json.h"

struct hwsim_link;

/* A frame handed in by a radio; @bytes are valid during the callback. */
struct hwsim_frame {
	uint8_t radio[MAC_ADDR_LEN];	/* hwsim's address of the radio */
	uint64_t cookie;
	uint32_t flags;
	uint32_t freq;			/* MHz */
	const uint8_t *bytes;		/* MPDU without FCS */
	size_t length;
	struct hwsim_rates rates;
};

typedef void (*hwsim_frame_handler)(void *ctx, const struct hwsim_frame *frame);

/*
 * Connect and register as the medium of this network namespace's radios. Ends
 * the program with one line if mac80211_hwsim is not there or has a medium.
 */
struct hwsim_link *hwsim_open(struct integrity *integrity);
void hwsim_close(struct hwsim_link *link);
int hwsim_fd(const struct hwsim_link *link);

/* Take what has arrived, at least one datagram, and hand on the frames. */
void hwsim_receive(struct hwsim_link *link, hwsim_frame_handler handler,
		   void *ctx);

/*
 * What a frame was sent at. hwsim as it ships knows legacy rates only and takes the
 * index; the lab's radio driver takes @mcs instead, if it is there.
 */
struct hwsim_sent_at {
	uint32_t index;
	bool has_mcs;
	struct hwsim_tx_rate_flag mcs;
};

/*
 * Give @frame to the radio with hwsim address @to. A radio that is off, idle or
 * on another channel refuses it; with @may_refuse that is not an error.
 */
void hwsim_deliver(struct hwsim_link *link, const uint8_t *to,
		   const struct hwsim_frame *frame,
		   const struct hwsim_sent_at *rate, bool may_refuse);

/* The end of a frame, for its radio. */
struct hwsim_status {
	uint8_t radio[MAC_ADDR_LEN];
	uint64_t cookie;
	uint32_t flags;
	struct hwsim_tx_rate done[HWSIM_TX_RATES];	/* attempts at each rate */
	bool has_mcs;					/* of the first rate */
	struct hwsim_tx_rate_flag mcs;
	bool acked;
};

void hwsim_report(struct hwsim_link *link, const struct hwsim_status *status);

/* Send what deliver and report have gathered. */
void hwsim_flush(struct hwsim_link *link);

#endif
