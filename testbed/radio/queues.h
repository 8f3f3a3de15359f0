/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated radio that pulls its frames from mac80211's own queues, as the
 * drivers of real radios do, instead of taking each one at once. See queues.c.
 */
#ifndef LAB_RADIO_QUEUES_H
#define LAB_RADIO_QUEUES_H

#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/spinlock.h>
#include <net/mac80211.h>
#include <net/netlink.h>

typedef void (*radio_tx_fn)(struct ieee80211_hw *hw,
			    struct ieee80211_tx_control *control,
			    struct sk_buff *skb);

/**
 * struct radio_queues - how one radio takes its frames
 * @hw: the radio
 * @in_hardware: frames that it has taken and that have no TX status yet
 * @tx: hands the radio one frame
 * @hw_frames: of each access category so many at most; 0: a direct radio
 * @aggregate: so many frames of one station in its turn at most
 * @airtime: tell mac80211 the airtime of each station's data frames
 * @lock: one round of the stations at a time
 * @rates_lock: of @rates
 * @rates: at which rate the last frame was sent, by receiver; a newer one may take its place
 * @sent: the A-MPDU whose frames' TX statuses are coming
 * @received: the A-MPDU whose frames are coming in
 */
struct radio_ampdu {
	u8 peer[ETH_ALEN];
	ktime_t end;
};

struct radio_rate {
	u8 peer[ETH_ALEN];
	u8 band;
	struct ieee80211_tx_rate rate;
};

#define RADIO_RATES	64

struct radio_queues {
	struct ieee80211_hw *hw;
	struct sk_buff_head *in_hardware;
	radio_tx_fn tx;
	unsigned int hw_frames;
	unsigned int aggregate;
	bool airtime;
	spinlock_t lock;	/* see above */
	spinlock_t rates_lock;	/* see above */
	struct radio_rate rates[RADIO_RATES];
	struct radio_ampdu sent;
	struct radio_ampdu received;
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

/*
 * The rate of @skb, whose TX status is filled in, for radio_sta_statistics(). It is the one
 * that the medium's @attr names, four struct hwsim_tx_rate_flag of which the
 * first counts: an MCS, for which mac80211_hwsim as shipped has no words. @attr may be
 * NULL; then the legacy rate stays.
 */
void radio_rate_sent(struct radio_queues *queues, const struct nlattr *attr,
		     struct sk_buff *skb);
void radio_rate_received(const struct nlattr *attr,
			 struct ieee80211_rx_status *status);

/*
 * The rate at which the last frame to a station was sent. Without that mac80211 tells the
 * rate that its rate control has chosen, which the medium may have overruled.
 */
void radio_sta_statistics(struct ieee80211_hw *hw, struct ieee80211_vif *vif,
			  struct ieee80211_sta *sta, struct station_info *sinfo);

/* The end of @skb, whose TX status is filled in, off the list of frames in hardware. */
void radio_queues_status(struct radio_queues *queues, struct sk_buff *skb);

/* A frame that the radio has received, before mac80211 gets it. */
void radio_queues_received(struct radio_queues *queues,
			   struct ieee80211_rx_status *status,
			   const struct sk_buff *skb);

#endif
