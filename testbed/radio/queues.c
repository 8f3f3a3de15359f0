// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated radio that pulls its frames from mac80211's own queues.
 *
 * mac80211 keeps a queue with fq_codel for each station and TID. A driver asks
 * which station is next (ieee80211_next_txq) and takes a frame from its queue
 * (ieee80211_tx_dequeue). Here it does so when mac80211 has new frames and at each
 * TX status. It takes up to "aggregate" frames a turn, and a turn begins when
 * there is room for as many: fewer than hw_frames of that access category have
 * no TX status yet. Without aggregation that is one frame a turn. So with airtime
 * fairness and airtime queue limits (AQL) off, stations share by turns.
 *
 * With airtime fairness the airtime of data frames sent to a station, at all
 * their attempts, and received from it is registered with mac80211, as ath9k
 * and mt76 do. mac80211's own functions compute it from the rates. They count a
 * preamble for each frame; all frames of an A-MPDU have one.
 *
 * mac80211 starts the A-MPDU sessions, where stations have HT. The medium gathers
 * the frames, sends block ACKs and puts the frames in order again.
 */
#include <linux/if_ether.h>
#include <linux/ieee80211.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include "mac80211_hwsim.h"
#include "queues.h"

/* Each parameter has a value for the first radio and one for all others. */
#define ROLES	2

/* No two transmissions end within the shortest interframe space. */
#define SIFS_US		10

/* Beyond that the radio would drop frames: see MAX_QUEUE of mac80211_hwsim.c. */
#define HW_FRAMES_MAX	64

static unsigned int hw_frames[ROLES];
module_param_array(hw_frames, uint, NULL, 0444);
MODULE_PARM_DESC(hw_frames, "Frames of an access category in hardware (0: not from mac80211's queues)");

static unsigned int aggregate[ROLES];
module_param_array(aggregate, uint, NULL, 0444);
MODULE_PARM_DESC(aggregate, "Frames to take from a station in its turn (default 1)");

static bool airtime_fairness[ROLES];
module_param_array(airtime_fairness, bool, NULL, 0444);
MODULE_PARM_DESC(airtime_fairness, "Share airtime equally among stations");

static bool aql[ROLES];
module_param_array(aql, bool, NULL, 0444);
MODULE_PARM_DESC(aql, "Limit the airtime of the frames in hardware (AQL)");

/* Where a radio's struct radio_queues is in what mac80211_hwsim keeps of it: all are alike. */
static size_t queues_offset;

static unsigned int role(unsigned int idx)
{
	return min_t(unsigned int, idx, ROLES - 1);
}

bool radio_queues_wanted(unsigned int idx)
{
	return hw_frames[role(idx)];
}

void radio_queues_init(struct radio_queues *queues, struct ieee80211_hw *hw,
		       unsigned int idx, struct sk_buff_head *in_hardware,
		       radio_tx_fn tx)
{
	spin_lock_init(&queues->lock);
	spin_lock_init(&queues->rates_lock);
	queues->hw = hw;
	queues->in_hardware = in_hardware;
	queues->tx = tx;
	queues_offset = (u8 *)queues - (u8 *)hw->priv;
	/* The medium keeps the order of an A-MPDU session. */
	ieee80211_hw_set(hw, SUPPORTS_REORDERING_BUFFER);
	queues->hw_frames = min_t(unsigned int, hw_frames[role(idx)], HW_FRAMES_MAX);
	queues->aggregate = clamp(aggregate[role(idx)], 1U, queues->hw_frames ?: 1U);
	if (!queues->hw_frames)
		return;
	queues->airtime = airtime_fairness[role(idx)];
	if (queues->airtime)
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AIRTIME_FAIRNESS);
	if (aql[role(idx)])
		wiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_AQL);
}

/* Whether @ac has room for a turn. */
static bool has_room(struct radio_queues *queues, u8 ac)
{
	struct sk_buff_head *list = queues->in_hardware;
	unsigned int frames = 0;
	struct sk_buff *skb;
	unsigned long flags;

	spin_lock_irqsave(&list->lock, flags);
	skb_queue_walk(list, skb)
		frames += skb_get_queue_mapping(skb) == ac;
	spin_unlock_irqrestore(&list->lock, flags);
	return frames + queues->aggregate <= queues->hw_frames;
}

/* One station's turn. False if it had no frame. */
static bool pull_turn(struct radio_queues *queues, struct ieee80211_txq *txq)
{
	struct ieee80211_tx_control control = { .sta = txq->sta };
	unsigned int frames = 0;
	struct sk_buff *skb;

	while (frames < queues->aggregate) {
		skb = ieee80211_tx_dequeue(queues->hw, txq);
		if (!skb)
			break;
		queues->tx(queues->hw, &control, skb);
		frames++;
	}
	return frames;
}

/* Each station whose turn it is may send. False if none did. */
static bool pull_round(struct radio_queues *queues, u8 ac)
{
	struct ieee80211_txq *txq;
	bool sent = false;

	ieee80211_txq_schedule_start(queues->hw, ac);
	while (has_room(queues, ac)) {
		txq = ieee80211_next_txq(queues->hw, ac);
		if (!txq)
			break;
		sent |= pull_turn(queues, txq);
		ieee80211_return_txq(queues->hw, txq, false);
	}
	ieee80211_txq_schedule_end(queues->hw, ac);
	return sent;
}

void radio_queues_pull(struct radio_queues *queues, u8 ac)
{
	spin_lock_bh(&queues->lock);
	rcu_read_lock();
	while (has_room(queues, ac) && pull_round(queues, ac))
		;
	rcu_read_unlock();
	spin_unlock_bh(&queues->lock);
}

/* Of a data frame; frames without a TID count as best effort. */
static u8 tid_of(const struct ieee80211_hdr *hdr)
{
	if (!ieee80211_is_data_qos(hdr->frame_control))
		return 0;
	return ieee80211_get_tid((struct ieee80211_hdr *)hdr);
}

static void register_airtime(struct radio_queues *queues, const struct ieee80211_hdr *hdr,
			     u32 tx_us, u32 rx_us)
{
	const u8 *peer = tx_us ? hdr->addr1 : hdr->addr2;
	const u8 *own = tx_us ? hdr->addr2 : hdr->addr1;
	struct ieee80211_sta *sta;

	rcu_read_lock();
	sta = ieee80211_find_sta_by_ifaddr(queues->hw, peer, own);
	if (sta)
		ieee80211_sta_register_airtime(sta, tid_of(hdr), tx_us, rx_us);
	rcu_read_unlock();
}

/*
 * Whether a frame of @peer is another one of @ampdu, whose frames all end at the
 * same moment. To read the clock takes a little time, even where time is virtual.
 */
static bool is_next_mpdu(struct radio_ampdu *ampdu, const u8 *peer)
{
	ktime_t now = ktime_get();
	bool next = ktime_us_delta(now, ampdu->end) < SIFS_US &&
		    ether_addr_equal(ampdu->peer, peer);

	ampdu->end = now;
	ether_addr_copy(ampdu->peer, peer);
	return next;
}

static u32 airtime_sent(struct radio_queues *queues, struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const struct ieee80211_hdr *)skb->data;
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	u32 us = ieee80211_calc_tx_airtime(queues->hw, info, skb->len + FCS_LEN);

	if (us && is_next_mpdu(&queues->sent, hdr->addr1))
		us -= ieee80211_calc_tx_airtime(queues->hw, info, 0);
	return us;
}

static u32 airtime_received(struct radio_queues *queues,
			    struct ieee80211_rx_status *status,
			    const struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const struct ieee80211_hdr *)skb->data;
	u32 us = ieee80211_calc_rx_airtime(queues->hw, status, skb->len + FCS_LEN);

	if (us && is_next_mpdu(&queues->received, hdr->addr2))
		us -= ieee80211_calc_rx_airtime(queues->hw, status, 0);
	return us;
}

/* The first rate of @attr; NULL if it is no MCS of one stream, or missing. */
static const struct hwsim_tx_rate_flag *first_mcs(const struct nlattr *attr)
{
	const struct hwsim_tx_rate_flag *rate;
	int highest = -1;

	if (!attr || nla_len(attr) < (int)sizeof(*rate))
		return NULL;
	rate = nla_data(attr);
	if (rate->flags & MAC80211_HWSIM_TX_RC_VHT_MCS)
		highest = 9;
	else if (rate->flags & MAC80211_HWSIM_TX_RC_MCS)
		highest = 7;
	return rate->idx >= 0 && rate->idx <= highest ? rate : NULL;
}

static struct radio_rate *rate_of(struct radio_queues *queues, const u8 *peer)
{
	return &queues->rates[(peer[3] ^ peer[4] ^ peer[5]) % RADIO_RATES];
}

/* The last attempt's rate is the frame's. */
static void keep_rate(struct radio_queues *queues, struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const struct ieee80211_hdr *)skb->data;
	const struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	struct radio_rate *kept = rate_of(queues, hdr->addr1);
	int i, last = -1;

	for (i = 0; i < IEEE80211_TX_MAX_RATES && info->status.rates[i].idx >= 0; i++) {
		if (info->status.rates[i].count)
			last = i;
	}
	if (last < 0 || !ieee80211_is_data_present(hdr->frame_control))
		return;
	spin_lock_bh(&queues->rates_lock);
	ether_addr_copy(kept->peer, hdr->addr1);
	kept->band = info->band;
	kept->rate = info->status.rates[last];
	spin_unlock_bh(&queues->rates_lock);
}

void radio_sta_statistics(struct ieee80211_hw *hw, struct ieee80211_vif *vif,
			  struct ieee80211_sta *sta, struct station_info *sinfo)
{
	struct radio_queues *queues = hw->priv + queues_offset;
	const struct ieee80211_tx_rate *rate;
	struct radio_rate kept;

	spin_lock_bh(&queues->rates_lock);
	kept = *rate_of(queues, sta->addr);
	spin_unlock_bh(&queues->rates_lock);
	if (!ether_addr_equal(kept.peer, sta->addr))
		return;
	rate = &kept.rate;
	sinfo->txrate = (struct rate_info) { .bw = RATE_INFO_BW_20 };
	if (rate->flags & IEEE80211_TX_RC_VHT_MCS) {
		sinfo->txrate.flags = RATE_INFO_FLAGS_VHT_MCS;
		sinfo->txrate.mcs = ieee80211_rate_get_vht_mcs(rate);
		sinfo->txrate.nss = ieee80211_rate_get_vht_nss(rate);
	} else if (rate->flags & IEEE80211_TX_RC_MCS) {
		sinfo->txrate.flags = RATE_INFO_FLAGS_MCS;
		sinfo->txrate.mcs = rate->idx;
	} else {
		sinfo->txrate.legacy =
			hw->wiphy->bands[kept.band]->bitrates[rate->idx].bitrate;
	}
	if (rate->flags & IEEE80211_TX_RC_80_MHZ_WIDTH)
		sinfo->txrate.bw = RATE_INFO_BW_80;
	sinfo->filled |= BIT_ULL(NL80211_STA_INFO_TX_BITRATE);
}

void radio_rate_sent(struct radio_queues *queues, const struct nlattr *attr,
		     struct sk_buff *skb)
{
	struct ieee80211_tx_info *info = IEEE80211_SKB_CB(skb);
	const struct hwsim_tx_rate_flag *rate = first_mcs(attr);

	/* hwsim's flags are mac80211's; with one stream VHT's index is the MCS. */
	if (rate) {
		info->status.rates[0].idx = rate->idx;
		info->status.rates[0].flags = rate->flags;
	}
	keep_rate(queues, skb);
	if (!(info->flags & IEEE80211_TX_CTL_AMPDU))
		return;
	/* Of each MPDU. */
	info->flags |= IEEE80211_TX_STAT_AMPDU;
	info->status.ampdu_len = 1;
	info->status.ampdu_ack_len = !!(info->flags & IEEE80211_TX_STAT_ACK);
}

void radio_rate_received(const struct nlattr *attr,
			 struct ieee80211_rx_status *status)
{
	const struct hwsim_tx_rate_flag *rate = first_mcs(attr);

	if (!rate)
		return;
	status->rate_idx = rate->idx;
	status->nss = 1;
	status->encoding = rate->flags & MAC80211_HWSIM_TX_RC_VHT_MCS ?
			   RX_ENC_VHT : RX_ENC_HT;
	if (rate->flags & MAC80211_HWSIM_TX_RC_80_MHZ_WIDTH)
		status->bw = RATE_INFO_BW_80;
}

void radio_queues_status(struct radio_queues *queues, struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const struct ieee80211_hdr *)skb->data;
	u16 ac = skb_get_queue_mapping(skb);
	u32 us;

	if (queues->airtime && ieee80211_is_data_present(hdr->frame_control)) {
		us = airtime_sent(queues, skb);
		if (us)
			register_airtime(queues, hdr, us, 0);
	}
	/*
	 * At once: from a tasklet the frame would count as pending until after
	 * the next one is chosen.
	 */
	ieee80211_tx_status_ni(queues->hw, skb);
	if (ac < IEEE80211_NUM_ACS)
		radio_queues_pull(queues, ac);
}

void radio_queues_received(struct radio_queues *queues,
			   struct ieee80211_rx_status *status,
			   const struct sk_buff *skb)
{
	const struct ieee80211_hdr *hdr = (const struct ieee80211_hdr *)skb->data;
	u32 us;

	if (!queues->airtime || !ieee80211_is_data_present(hdr->frame_control) ||
	    skb->len < ieee80211_hdrlen(hdr->frame_control))
		return;
	us = airtime_received(queues, status, skb);
	if (us)
		register_airtime(queues, hdr, 0, us);
}
