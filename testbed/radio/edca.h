/* SPDX-License-Identifier: GPL-2.0-only */
/* The contention parameters that mac80211 gives a radio: see edca.c. */
#ifndef LAB_RADIO_EDCA_H
#define LAB_RADIO_EDCA_H

#include <linux/types.h>
#include <net/mac80211.h>

struct dentry;

struct radio_edca {
	struct ieee80211_tx_queue_params of[IEEE80211_NUM_ACS];
};

/* What conf_tx() says of @ac. */
void radio_edca_set(struct radio_edca *edca, u16 ac,
		    const struct ieee80211_tx_queue_params *params);

/* Tell it in the file "edca" of @directory. */
void radio_edca_debugfs(struct radio_edca *edca, struct dentry *directory);

#endif
