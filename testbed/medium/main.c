// SPDX-License-Identifier: GPL-2.0-only
/* dcfmedium simulates an 802.11 medium with contention, alone or for mac80211_hwsim's radios. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/phy/phy_profile.h"
#include "hwsim/hwsim.h"
#include "options.h"
#include "saturate.h"
#include "trace/explain.h"
#include "trace/replay.h"
#include "wmediumd/wmediumd.h"

static const char help[] =
"usage: dcfmedium COMMAND [options]\n"
"\n"
"Simulates an 802.11 medium: stations contend, frames collide and are retried.\n"
"\n"
"  hwsim      carry the frames of mac80211_hwsim's radios\n"
"  saturate   run stations that always have a frame to send, without a kernel\n"
"  replay     play a recording of hwsim or saturate again, without a kernel\n"
"  explain    print a trace as text\n"
"  wmediumd   print what a configuration file of wmediumd says, as options\n"
"\n"
"Profiles: %s.\n"
"`dcfmedium COMMAND --help` describes a command.\n"
"\n"
"examples:\n"
"  dcfmedium saturate --stations 5 --phy hrdsss-11 --payload 1500 --json\n"
"  dcfmedium hwsim --phy hrdsss-11 --station 02:00:00:00:00:00,name=ap --stats medium.json\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "hwsim", hwsim_command },
	{ "saturate", saturate_command },
	{ "replay", replay_command },
	{ "explain", explain_command },
	{ "wmediumd", wmediumd_command },
};

int main(int argc, char **argv)
{
	if (argc < 2)
		usage_error("no command; see `dcfmedium --help`");
	if (!strcmp(argv[1], "--help")) {
		printf(help, phy_names());
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	usage_error("no command '%s'; see `dcfmedium --help`", argv[1]);
}
