// SPDX-License-Identifier: GPL-2.0-only
/*
 * Made-up machines with one fault each: what hardware decides, which no lab
 * kernel has. Starts from an access point where all is well.
 */
#include <stdlib.h>

#include "driver.h"
#include "made_machine.h"
#include "report.h"
#include "shell_word.h"

static void test_well(int *failures)
{
	struct case_machine made;
	const struct findings *all;

	make_well(&made);
	all = look(&made);
	EXPECT_EQ(all->count, 9);
	for (size_t i = 0; i < all->count; i++) {
		EXPECT_EQ(all->all[i].state, STATE_OK);
		EXPECT(!all->all[i].type);
	}
	end(&made);
}

static void test_driver(int *failures)
{
	struct case_machine made;

	make_well(&made);
	queue_of(&made)->below.backpressure = TC_INFLIGHT_UNTRIED;
	expect(&made, "backpressure", STATE_UNKNOWN, 0, NULL, failures);
	strcpy(made.hardware.driver, "brcmfmac");
	expect(&made, "backpressure", STATE_PROBLEM, 1, "htb rate RATE", failures);
	EXPECT(strstr(about(&made, "backpressure")->said, "none is to be expected"));
	strcpy(made.hardware.bus, "sdio");
	look(&made);
	EXPECT(strstr(about(&made, "backpressure")->said, "bus is to be expected"));
	/* What was measured counts more than what is known. */
	queue_of(&made)->below.backpressure = TC_INFLIGHT_NONE;
	look(&made);
	EXPECT(!strncmp(about(&made, "backpressure")->said, "none: ", 6));
	queue_of(&made)->below.backpressure = TC_INFLIGHT_AIR;
	expect(&made, "backpressure", STATE_OK, 0, NULL, failures);
	expect(&made, "driver", STATE_NOTE, 0, NULL, failures);
	strcpy(made.hardware.driver, "unheard_of");
	expect(&made, "driver", STATE_NOTE, 0, NULL, failures);
	made.hardware.driver[0] = '\0';
	expect(&made, "driver", STATE_NOTE, 0, NULL, failures);
	end(&made);
}

static void test_offload(int *failures)
{
	struct case_machine made;
	struct flowtable *flowtable;

	make_well(&made);
	flowtable = machine_add_flowtable(&made.machine);
	strcpy(flowtable->name, "ft");
	strcpy(flowtable->table, "filter");
	/* In software its packets pass the queue discipline. */
	expect(&made, "offload", STATE_OK, 0, NULL, failures);
	made.hardware.wed = true;
	expect(&made, "offload", STATE_NOTE, 0, NULL, failures);
	made.machine.flowtables[0].hardware = true;
	expect(&made, "offload", STATE_PROBLEM, 1, "nft list flowtables", failures);
	made.machine.flowtable_count = 0;
	made.machine.flowtables_need_root = true;
	expect(&made, "offload", STATE_UNKNOWN, 0, NULL, failures);
	EXPECT(strstr(about(&made, "offload")->said, "only root"));
	end(&made);
}

static void test_mac80211(int *failures)
{
	struct case_machine made;

	make_well(&made);
	made.hardware.aql_enabled = 0;
	expect(&made, "aql", STATE_PROBLEM, 1, "echo 1 >", failures);
	made.hardware.aql_enabled = made.hardware.airtime_tx = -1;
	made.hardware.debugfs = FILE_NEEDS_ROOT;
	expect(&made, "aql", STATE_UNKNOWN, 0, NULL, failures);
	EXPECT(strstr(about(&made, "aql")->said, "only root"));
	expect(&made, "airtime_fairness", STATE_UNKNOWN, 0, NULL, failures);
	EXPECT(strstr(about(&made, "airtime_fairness")->said, "only root"));
	made.hardware.debugfs = FILE_ABSENT;
	look(&made);
	EXPECT(strstr(about(&made, "aql")->said, "no debugfs"));
	made.machine.radios[0].aql = made.machine.radios[0].airtime_fairness = false;
	expect(&made, "aql", STATE_OK, 0, NULL, failures);
	expect(&made, "airtime_fairness", STATE_OK, 0, NULL, failures);
	end(&made);
}

static void test_module(int *failures)
{
	struct case_machine made;
	struct module *module = &made.machine.module;
	const char *attach = "tc qdisc replace dev wlan0 root lasack";

	make_well(&made);
	look(&made);
	EXPECT(!about(&made, "module"));	/* it is in use */
	strcpy(queue_of(&made)->kind, "noqueue");
	queue_of(&made)->ours = false;
	strcpy(module->release, "6.1.0-56-amd64");
	expect(&made, "module", STATE_UNKNOWN, 1, NULL, failures);
	module->built = MODULE_ABSENT;
	expect(&made, "module", STATE_PROBLEM, 2, "linux-headers-6.1.0-56-amd64", failures);
	module->signed_only = true;		/* first it must be built */
	expect(&made, "module", STATE_PROBLEM, 2, "dkms autoinstall", failures);
	module->built = MODULE_THERE;
	expect(&made, "module", STATE_NOTE, 1, "mokutil --import", failures);
	module->signed_only = false;
	expect(&made, "module", STATE_OK, 1, NULL, failures);
	module->signed_only = module->loaded = true;
	expect(&made, "module", STATE_OK, 1, NULL, failures);
	expect(&made, "qdisc", STATE_PROBLEM, 1, attach, failures);
	end(&made);
}

static void test_power_save(int *failures)
{
	struct case_machine made;

	make_well(&made);
	queue_of(&made)->below.stalled = 2;
	expect(&made, "power_save", STATE_NOTE, 0, NULL, failures);
	access_point(&made)->power_save = POWER_SAVE_ON;	/* means nothing there */
	expect(&made, "power_save", STATE_NOTE, 0, NULL, failures);
	access_point(&made)->type = NL80211_IFTYPE_STATION;
	expect(&made, "power_save", STATE_PROBLEM, 1, "set power_save off", failures);
	end(&made);
}

static void test_place(int *failures)
{
	struct case_machine made;
	struct device *wan;
	struct queue *queue;

	make_well(&made);
	wan = machine_device_named(&made.machine, "eth0");
	wan->packets = 20.5;
	expect(&made, "queue", STATE_PROBLEM, 1, "dev eth0 root cake bandwidth RATE", failures);
	queue = device_add_queue(wan);
	strcpy(queue->kind, "cake");
	expect(&made, "queue", STATE_NOTE, 0, NULL, failures);
	/* Of a wired network it is a fault however well it is managed. */
	wan->to_internet = false;
	expect(&made, "queue", STATE_PROBLEM, 1, "tc -s qdisc show dev eth0", failures);
	strcpy(wan->kind, "ifb");
	expect(&made, "queue", STATE_NOTE, 0, NULL, failures);
	wan->packets = 0;
	expect(&made, "queue", STATE_OK, 0, NULL, failures);
	made.machine.radios[0].packets = 21;
	expect(&made, "queue", STATE_NOTE, 0, NULL, failures);
	EXPECT(strstr(about(&made, "queue")->said, "in mac80211"));
	made.machine.radios[0].packets = access_point(&made)->packets = 0.5;
	expect(&made, "queue", STATE_UNKNOWN, 0, NULL, failures);
	end(&made);
}

static void test_drivers(int *failures)
{
	static const struct {
		const char *name, *bus;
		int backpressure;	/* -1: nothing is known */
	} rows[] = {
		{ "ath9k", "pci", TC_INFLIGHT_AIR }, { "ath9k", "platform", TC_INFLIGHT_AIR },
		{ "ath9k_htc", "usb", -1 }, { "ath10k_pci", "pci", TC_INFLIGHT_AIR },
		{ "ath10k_usb", "usb", TC_INFLIGHT_AIR }, { "ath11k_pci", "pci", TC_INFLIGHT_AIR },
		{ "ath11k", "platform", TC_INFLIGHT_AIR }, { "ath12k_pci", "pci", TC_INFLIGHT_AIR },
		{ "mt76_wmac", "platform", TC_INFLIGHT_BUS }, { "mt7603e", "pci", TC_INFLIGHT_BUS },
		{ "mt76x2e", "pci", TC_INFLIGHT_BUS }, { "mt76x2u", "usb", TC_INFLIGHT_BUS },
		{ "mt7615e", "pci", TC_INFLIGHT_AIR }, { "mt7663s", "sdio", TC_INFLIGHT_BUS },
		{ "mt7915e", "pci", TC_INFLIGHT_AIR }, { "mt7921e", "pci", TC_INFLIGHT_AIR },
		{ "mt7921u", "usb", TC_INFLIGHT_BUS }, { "mt7996e", "pci", TC_INFLIGHT_AIR },
		{ "mt7925e", "pci", -1 }, { "rtw_8822ce", "pci", TC_INFLIGHT_BUS },
		{ "rtw_8822bu", "usb", TC_INFLIGHT_BUS }, { "rtw89_8852ce", "pci", TC_INFLIGHT_AIR },
		{ "iwlwifi", "pci", TC_INFLIGHT_AIR }, { "brcmfmac", "pci", TC_INFLIGHT_NONE },
		{ "brcmfmac", "sdio", TC_INFLIGHT_BUS }, { "brcmfmac", "usb", -1 },
		{ "mwifiex_pcie", "pci", TC_INFLIGHT_BUS },
		{ "mac80211_hwsim", "mac80211_hwsim", TC_INFLIGHT_UNTRIED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct driver *driver = driver_find(rows[i].name, rows[i].bus);
		int found = driver ? (int)driver->backpressure : -1;

		if (found != rows[i].backpressure)
			printf("# %s on %s\n", rows[i].name, rows[i].bus);
		EXPECT_EQ(found, rows[i].backpressure);
	}
}

static void test_words(int *failures)
{
	char longest[NAME_MAX_BYTES];

	EXPECT(!strcmp(shell_word("wlan0.5").text, "wlan0.5"));
	EXPECT(!strcmp(shell_word("").text, "''"));
	EXPECT(!strcmp(shell_word("-a").text, "'-a'"));
	EXPECT(!strcmp(shell_word("a'b").text, "'a'\\''b'"));
	EXPECT(!strcmp(shell_word("$(x)").text, "'$(x)'"));
	EXPECT(!strcmp(shell_word("a\033[2Jb").text, "'a?[2Jb'"));
	memset(longest, '\'', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	EXPECT_EQ(strlen(shell_word(longest).text), 4 * (sizeof(longest) - 1) + 2);
}

static void test_report(int *failures)
{
	struct case_machine made;
	struct report report;
	char *text = NULL;
	size_t size;
	FILE *out;

	make_well(&made);
	strcpy(access_point(&made)->name, "wl\"an");
	report = (struct report){ .device = &made.machine.devices[1], .hardware = made.hardware };
	find(&report.findings, "qdisc", STATE_PROBLEM, "one %s", "two three");
	find_type(&report.findings, "first");
	find_type(&report.findings, "second \"word\"");
	out = open_memstream(&text, &size);
	report_json(out, &made.machine, &report, 1);
	fclose(out);
	EXPECT(strstr(text, "{\"device\":\"wl\\\"an\",\"role\":\"access point\""));
	EXPECT(strstr(text, "\"waiting_in_mac80211_packets\":null"));
	EXPECT(strstr(text, "{\"about\":\"qdisc\",\"state\":\"problem\",\"said\":\"one two three\","
		      "\"type\":[\"first\",\"second \\\"word\\\"\"]}"));
	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	report_text(out, &report, 34);
	fclose(out);
	EXPECT(strstr(text, "\nproblem  qdisc             one two\n"
		      "                           three\n"
		      "                               first\n"
		      "                               second \"word\"\n"));
	free(text);
	findings_clear(&report.findings);
	end(&made);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "all well", test_well },
		{ "back-pressure, known and measured", test_driver },
		{ "offload", test_offload },
		{ "airtime queue limits and airtime fairness", test_mac80211 },
		{ "module", test_module },
		{ "power save", test_power_save },
		{ "where packets wait", test_place },
		{ "drivers", test_drivers },
		{ "names as words of a shell", test_words },
		{ "a report", test_report },
		{ NULL, NULL },
	};

	return tap_run(cases);
}
