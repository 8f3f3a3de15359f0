// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a radio is told of its access categories: of an access point by hostapd's
 * tx_queue_data*, of a station by the WMM element of its access point's beacons.
 *
 * hwsim does not contend; the medium does, and no message tells it these values.
 * So it gets them before, and here the lab reads whether they are the same.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "edca.h"

void radio_edca_set(struct radio_edca *edca, u16 ac,
		    const struct ieee80211_tx_queue_params *params)
{
	if (ac < IEEE80211_NUM_ACS)
		edca->of[ac] = *params;
}

static int edca_show(struct seq_file *file, void *unused)
{
	static const char *const names[IEEE80211_NUM_ACS] = {
		[IEEE80211_AC_VO] = "VO", [IEEE80211_AC_VI] = "VI",
		[IEEE80211_AC_BE] = "BE", [IEEE80211_AC_BK] = "BK",
	};
	const struct radio_edca *edca = file->private;

	for (int ac = 0; ac < IEEE80211_NUM_ACS; ac++)
		seq_printf(file, "%s aifs %u cw_min %u cw_max %u txop %u\n", names[ac],
			   edca->of[ac].aifs, edca->of[ac].cw_min, edca->of[ac].cw_max,
			   edca->of[ac].txop);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(edca);

void radio_edca_debugfs(struct radio_edca *edca, struct dentry *directory)
{
	debugfs_create_file("edca", 0444, directory, edca, &edca_fops);
}
