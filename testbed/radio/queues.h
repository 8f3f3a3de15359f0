/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated radio that pulls its frames from mac80211's own queues, as the
 * drivers of real radios do, instead of taking each one at once. See queues.c.
 */
#ifndef LAB_RADIO_QUEUES_H
#define LAB_RADIO_QUEUES_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/mac80211.h>

typedef void (*radio_tx_fn)(struct ieee80211_hw *hw,
			    struct ieee80211_tx_control *control,
			    struct sk_buff *skb);

/**
 * struct radio_queues - how one radio takes its frames
 * @hw: the radio
 * @in_hardware: frames that it has taken and that have no TX status yet
 * @tx: hands the radio one frame
 * @hw_frames: of each access category so many at most; 0: a direct radio
 * @airtime: tell mac80211 the airtime of each station's data frames
 * @lock: one round of the stations at a time
 */
struct radio_queues {
	struct ieee80211_hw *hw;
	struct sk_buff_head *in_hardware;
	radio_tx_fn tx;
	unsigned int hw_frames;
	bool airtime;
	spinlock_t lock;	/* see above */
};

/* Whether radio @idx is to pull from mac80211's queues. */
bool radio_queues_wanted(unsigned int idx);

/* For every radio, before it is registered. */
void radio_queues_init(struct radio_queues *queues, struct ieee80211_hw *hw,
		       unsigned int idx, struct sk_buff_head *in_hardware,
		       radio_tx_fn tx);

static inline bool radio_queues_enabled(const struct radio_queues *queues)
{
	return queues->hw_frames;
}

/* Take frames of @ac from mac80211's queues while there is room for them. */
void radio_queues_pull(struct radio_queues *queues, u8 ac);

/* The end of @skb, whose TX status is filled in, off the list of frames in hardware. */
void radio_queues_status(struct radio_queues *queues, struct sk_buff *skb);

/* A frame that the radio has received, before mac80211 gets it. */
void radio_queues_received(struct radio_queues *queues,
			   struct ieee80211_rx_status *status,
			   const struct sk_buff *skb);

#endif
