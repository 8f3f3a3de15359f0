// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read of files and of netlink messages, made up and mutated. The
 * sources that take messages are part of this file: what takes one is their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../flowtables.c"
#include "../links.c"
#include "../radios.c"
#include "files.h"
#include "tap.h"

#define MUTATED		100000	/* messages */

static char sys[] = "/tmp/lasack-doctor-XXXXXX";

/* The folders of a file below the made-up /sys, and its path. */
static char *place(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", sys, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			die("cannot make %s", path);
		*slash = '/';
	}
	return path;
}

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(place(name), "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		die("cannot write %s", name);
}

/* The folder of such a file. */
static const char *folder_of(const char *name)
{
	char *path = place(name);

	*strrchr(path, '/') = '\0';
	return path;
}

static void put_link(const char *name, const char *target)
{
	if (symlink(target, place(name)))
		die("cannot link %s", name);
}

static void test_files(int *failures)
{
	struct hardware hardware;

	put_link("class/net/wlan0/device/driver", "../../../../bus/pci/drivers/mt7915e");
	put_link("class/net/wlan0/device/subsystem", "../../../../bus/pci");
	put_file("module/mt7915e/parameters/wed_enable", "Y\n");
	put_file("kernel/debug/ieee80211/phy0/aql_enable", "0\n");
	put_file("kernel/debug/ieee80211/phy0/airtime_flags", "AIRTIME_TX\t(1)\n");
	files_read(sys, "wlan0", "phy0", &hardware);
	EXPECT(!strcmp(hardware.driver, "mt7915e"));
	EXPECT(!strcmp(hardware.bus, "pci"));
	EXPECT(hardware.wed);
	EXPECT_EQ(hardware.debugfs, FILE_READ);
	EXPECT_EQ(hardware.aql_enabled, 0);
	EXPECT_EQ(hardware.airtime_tx, 1);
	EXPECT_EQ(hardware.airtime_rx, 0);
	put_file("module/mt7915e/parameters/wed_enable", "N\n");
	put_file("kernel/debug/ieee80211/phy0/aql_enable", "1\n");
	files_read(sys, "wlan0", "phy0", &hardware);
	EXPECT(!hardware.wed);
	EXPECT_EQ(hardware.aql_enabled, 1);
	files_read(sys, "wlan0", NULL, &hardware);
	EXPECT_EQ(hardware.aql_enabled, -1);
	files_read(sys, "veth0", "phy9", &hardware);
	EXPECT(!hardware.driver[0] && !hardware.bus[0]);
	EXPECT_EQ(hardware.debugfs, FILE_ABSENT);
	EXPECT_EQ(hardware.airtime_tx, -1);
}

static void test_module_files(int *failures)
{
	struct module module;

	module_read(sys, "/nonexistent", &module);
	EXPECT_EQ(module.built, MODULE_UNKNOWN);
	EXPECT(!module.loaded && !module.signed_only);
	put_file("lib/modules.dep", "extra/sch_lasackish.ko: extra/sch_lasack.ko\n");
	module_read(sys, folder_of("lib/modules.dep"), &module);
	EXPECT_EQ(module.built, MODULE_ABSENT);
	put_file("lib/modules.dep",
		 "kernel/net/sched/sch_fq.ko.xz:\n"
		 "updates/dkms/sch_lasack.ko.xz: updates/dkms/inflight.ko.xz\n");
	module_read(sys, folder_of("lib/modules.dep"), &module);
	EXPECT_EQ(module.built, MODULE_THERE);
	EXPECT(!module.loaded);
	put_file("lib/modules.builtin", "kernel/net/sched/sch_lasack.ko\n");
	module_read(sys, folder_of("lib/modules.dep"), &module);
	EXPECT(module.loaded);
	put_file("kernel/security/lockdown", "[none] integrity confidentiality\n");
	put_file("module/module/parameters/sig_enforce", "N\n");
	module_read(sys, "/nonexistent", &module);
	EXPECT(!module.signed_only);
	put_file("module/module/parameters/sig_enforce", "Y\n");
	module_read(sys, "/nonexistent", &module);
	EXPECT(module.signed_only);
	put_file("module/module/parameters/sig_enforce", "N\n");
	put_file("kernel/security/lockdown", "none [integrity] confidentiality\n");
	module_read(sys, "/nonexistent", &module);
	EXPECT(module.signed_only);
	put_file("module/sch_lasack/refcnt", "0\n");
	module_read(sys, "/nonexistent", &module);
	EXPECT(module.loaded);
}

/* Root may read them, so root becomes nobody for that long. */
static void test_files_of_root(int *failures)
{
	struct hardware hardware;
	bool root = !geteuid();

	if (chmod(sys, 0711) || chmod(place("kernel"), 0711) ||
	    chmod(place("kernel/debug"), root ? 0700 : 0) || (root && seteuid(65534)))
		die("cannot hide debugfs");
	files_read(sys, "wlan0", "phy0", &hardware);
	if (root && seteuid(0))
		die("cannot become root again");
	EXPECT_EQ(hardware.debugfs, FILE_NEEDS_ROOT);
	EXPECT_EQ(hardware.aql_enabled, -1);
	chmod(place("kernel/debug"), 0700);
}

static struct nl_msg *flowtable_message(uint32_t flags)
{
	struct nfgenmsg header = { .nfgen_family = 1 };
	struct nl_msg *msg = nlmsg_alloc_simple(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWFLOWTABLE,
						0);

	nlmsg_append(msg, &header, sizeof(header), NLMSG_ALIGNTO);
	nla_put_string(msg, NFTA_FLOWTABLE_TABLE, "filter");
	nla_put_string(msg, NFTA_FLOWTABLE_NAME, "ft");
	if (flags)
		nla_put_u32(msg, NFTA_FLOWTABLE_FLAGS, htonl(flags));
	return msg;
}

static void test_flowtables(int *failures)
{
	static const uint32_t flags[] = { 0, NFT_FLOWTABLE_HW_OFFLOAD, NFT_FLOWTABLE_COUNTER };
	struct machine machine = { };

	for (int i = 0; i < 3; i++) {
		struct nl_msg *msg = flowtable_message(flags[i]);

		take_flowtable(msg, &machine);
		nlmsg_free(msg);
	}
	EXPECT_EQ(machine.flowtable_count, 3);
	EXPECT(!strcmp(machine.flowtables[0].name, "ft"));
	EXPECT(!strcmp(machine.flowtables[0].table, "filter"));
	EXPECT(!machine.flowtables[0].hardware);
	EXPECT(machine.flowtables[1].hardware);
	EXPECT(!machine.flowtables[2].hardware);
	machine_clear(&machine);
}

static struct nl_msg *queue_message(void)
{
	struct tcmsg tcm = { .tcm_ifindex = 1, .tcm_handle = 0x10000, .tcm_parent = TC_H_ROOT };
	struct tc_inflight_xstats below = { .backpressure = TC_INFLIGHT_BUS, .stalled = 3 };
	struct gnet_stats_queue queue = { .qlen = 7, .drops = 2 };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWQDISC, 0);
	struct nlattr *nest;

	nlmsg_append(msg, &tcm, sizeof(tcm), NLMSG_ALIGNTO);
	nla_put_string(msg, TCA_KIND, "lasack");
	nest = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, TCA_LASACK_INFLIGHT, 16);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, TCA_STATS2);
	nla_put(msg, TCA_STATS_QUEUE, sizeof(queue), &queue);
	nla_put(msg, TCA_STATS_APP, sizeof(below), &below);
	nla_nest_end(msg, nest);
	return msg;
}

/* A default route with one way (2), or with two (2 and 3). */
static struct nl_msg *route_message(bool several)
{
	struct rtmsg route = { .rtm_family = AF_INET, .rtm_type = RTN_UNICAST };
	struct rtnexthop hops[] = {
		{ .rtnh_len = sizeof(hops[0]), .rtnh_ifindex = 2 },
		{ .rtnh_len = sizeof(hops[0]), .rtnh_ifindex = 3 },
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWROUTE, 0);

	nlmsg_append(msg, &route, sizeof(route), NLMSG_ALIGNTO);
	if (several)
		nla_put(msg, RTA_MULTIPATH, sizeof(hops), hops);
	else
		nla_put_u32(msg, RTA_OIF, 2);
	return msg;
}

static void test_routes(int *failures)
{
	for (int several = 0; several < 2; several++) {
		struct nl_msg *msg = route_message(several);
		struct machine machine = { };

		for (int index = 1; index <= 3; index++)
			machine_add_device(&machine)->index = index;
		take_route(msg, &machine);
		EXPECT(!machine.devices[0].to_internet);
		EXPECT(machine.devices[1].to_internet);
		EXPECT_EQ(machine.devices[2].to_internet, several);
		nlmsg_free(msg);
		machine_clear(&machine);
	}
}

static struct nl_msg *radio_message(void)
{
	uint8_t features[8] = { };
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *nest;

	features[NL80211_EXT_FEATURE_AQL / 8] |= 1 << NL80211_EXT_FEATURE_AQL % 8;
	genlmsg_put(msg, 0, 0, 30, 0, 0, NL80211_CMD_NEW_WIPHY, 0);
	nla_put_u32(msg, NL80211_ATTR_WIPHY, 4);
	nla_put_string(msg, NL80211_ATTR_WIPHY_NAME, "phy4");
	nla_put(msg, NL80211_ATTR_EXT_FEATURES, sizeof(features), features);
	nest = nla_nest_start(msg, NL80211_ATTR_TXQ_STATS);
	nla_put_u32(msg, NL80211_TXQ_STATS_BACKLOG_PACKETS, 12);
	nla_nest_end(msg, nest);
	return msg;
}

static bool limits_rate(const char *kind, const uint64_t *rate)
{
	struct tcmsg tcm = { .tcm_ifindex = 1, .tcm_parent = TC_H_ROOT };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWQDISC, 0);
	struct machine machine = { };
	struct nlattr *nest;
	bool limits;

	machine_add_device(&machine)->index = 1;
	nlmsg_append(msg, &tcm, sizeof(tcm), NLMSG_ALIGNTO);
	nla_put_string(msg, TCA_KIND, kind);
	nest = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, TCA_CAKE_OVERHEAD, 4);
	if (rate)
		nla_put_u64(msg, TCA_CAKE_BASE_RATE64, *rate);
	nla_nest_end(msg, nest);
	take_queue(msg, &machine);
	limits = machine.devices[0].queues[0].limits_rate;
	nlmsg_free(msg);
	machine_clear(&machine);
	return limits;
}

static void test_rates(int *failures)
{
	const uint64_t unlimited = 0, rate = 1;

	EXPECT(limits_rate("htb", NULL) && limits_rate("hfsc", NULL) && limits_rate("tbf", NULL));
	EXPECT(!limits_rate("fq_codel", &rate) && !limits_rate("mq", NULL));
	EXPECT(limits_rate("cake", &rate) && limits_rate("cake_mq", &rate));
	EXPECT(!limits_rate("cake", &unlimited) && !limits_rate("cake", NULL));
}

/* Bits beyond those that this kernel has are not there. */
static void test_features(int *failures)
{
	struct {
		struct nlattr header;
		uint8_t bits[12];
	} features = { .header = { .nla_len = sizeof(features.header) + 1 } };

	memset(features.bits, 0xff, sizeof(features.bits));
	EXPECT(has_feature(&features.header, 7));
	EXPECT(!has_feature(&features.header, 8));
	features.bits[0] = 0x40;
	EXPECT(has_feature(&features.header, 6));
	EXPECT(!has_feature(&features.header, 5));
}

/* At the first look 7 packets wait, at the second 3, and two more are dropped. */
static void test_looks(int *failures)
{
	struct machine machine = { };
	struct radio_source radios = { .machine = &machine };
	struct nl_msg *msg = queue_message();
	struct queue second;

	machine_add_device(&machine)->index = 1;
	machine.looks = 1;
	take_queue(msg, &machine);
	EXPECT_EQ(machine.devices[0].queue_count, 1);
	EXPECT_EQ(machine.devices[0].queues[0].bound, 16);
	EXPECT_EQ(device_backpressure(&machine.devices[0]), TC_INFLIGHT_BUS);
	note_root(&machine, &machine.devices[0], device_root(&machine.devices[0]));
	second = machine.devices[0].queues[0];
	second.packets = 3;
	second.drops += 2;
	machine.looks = 2;
	note_root(&machine, &machine.devices[0], &second);
	EXPECT_EQ(machine.devices[0].packets, 5);
	EXPECT_EQ(machine.devices[0].drops, 2);
	second.handle++;	/* another one: its count is its own */
	second.drops = 9;
	machine.looks = 3;
	note_root(&machine, &machine.devices[0], &second);
	EXPECT_EQ(machine.devices[0].drops, 2);
	nlmsg_free(msg);

	msg = radio_message();
	machine.looks = 1;
	take_radio(msg, &radios);
	EXPECT_EQ(machine.radio_count, 1);
	EXPECT(machine.radios[0].aql && !machine.radios[0].airtime_fairness);
	EXPECT(machine.radios[0].counts && !machine.radios[0].packets);
	radios.looking = true;
	take_radio(msg, &radios);
	EXPECT_EQ(machine.radios[0].packets, 12);
	nlmsg_free(msg);
	machine_clear(&machine);
}

static uint32_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Bytes changed after the header, and messages cut short; ASan sees what is read beyond. */
static void test_mutated(int *failures)
{
	struct nl_msg *(*const make[])(void) = { queue_message, radio_message };
	uint64_t state = 1;
	size_t taken = 0;

	for (int i = 0; i < MUTATED; i++) {
		struct machine machine = { .looks = 1 };
		struct radio_source radios = { .machine = &machine };
		struct nl_msg *whole = i % 3 < 2 ? make[i % 3]() : flowtable_message(1), *msg;
		struct nlmsghdr *nlh = nlmsg_hdr(whole), *copy;
		size_t length = nlh->nlmsg_len;

		machine_add_device(&machine)->index = 1;
		for (uint32_t n = draw(&state) % 4; n; n--)
			((uint8_t *)nlh)[NLMSG_HDRLEN + draw(&state) % (length - NLMSG_HDRLEN)] =
				draw(&state);
		if (draw(&state) % 4 == 0)
			length = NLMSG_HDRLEN + draw(&state) % (length - NLMSG_HDRLEN);
		copy = malloc(length);
		memcpy(copy, nlh, length);
		copy->nlmsg_len = length;
		msg = nlmsg_convert(copy);
		if (i % 3 == 0)
			take_queue(msg, &machine);
		else if (i % 3 == 1)
			take_radio(msg, &radios);
		else
			take_flowtable(msg, &machine);
		taken += machine.radio_count + machine.flowtable_count +
			 machine.devices[0].queue_count;
		nlmsg_free(msg);
		free(copy);
		nlmsg_free(whole);
		machine_clear(&machine);
	}
	EXPECT(taken > MUTATED / 10);	/* most are still worth a look */
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "files of /sys", test_files },
		{ "files of the module", test_module_files },
		{ "files that only root may read", test_files_of_root },
		{ "flowtables", test_flowtables },
		{ "ways to the Internet", test_routes },
		{ "what limits the rate", test_rates },
		{ "features of a driver", test_features },
		{ "looks at queues", test_looks },
		{ "mutated messages", test_mutated },
		{ NULL, NULL },
	};
	char command[64];
	int failed;

	if (!mkdtemp(sys))
		die("cannot make %s", sys);
	failed = tap_run(cases);
	snprintf(command, sizeof(command), "rm -r %s", sys);
	return system(command) || failed;
}
