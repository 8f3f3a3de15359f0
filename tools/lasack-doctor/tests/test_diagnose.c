// SPDX-License-Identifier: GPL-2.0-only
/*
 * Made-up machines with one fault each: what hardware decides, which no lab
 * kernel has. Starts from an access point where all is well.
 */
#include <linux/nl80211.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"
#include "driver.h"
#include "report.h"
#include "tap.h"

/* Pointers into the arrays hold until something is added. */
struct case_machine {
	struct machine machine;
	struct hardware hardware;
	struct findings findings;
};

static struct device *access_point(struct case_machine *made)
{
	return machine_device_named(&made->machine, "wlan0");
}

static struct queue *queue_of(struct case_machine *made)
{
	return &access_point(made)->queues[0];
}

static void make_well(struct case_machine *made)
{
	struct device *device;
	struct radio *radio;
	struct queue *queue;

	memset(made, 0, sizeof(*made));
	made->machine.seconds = 2;
	made->hardware = (struct hardware){
		.driver = "ath10k_pci", .bus = "pci", .debugfs = FILE_READ,
		.aql_enabled = 1, .airtime_tx = 1, .airtime_rx = 1,
	};
	radio = machine_add_radio(&made->machine);
	strcpy(radio->name, "phy0");
	radio->aql = radio->airtime_fairness = radio->counts = true;
	device = machine_add_device(&made->machine);
	strcpy(device->name, "eth0");
	device->index = 1;
	device->up = device->to_internet = true;
	device = machine_add_device(&made->machine);
	strcpy(device->name, "wlan0");
	device->index = 2;
	device->up = device->wifi = true;
	device->type = NL80211_IFTYPE_AP;
	device->packets = 20;
	queue = device_add_queue(device);
	strcpy(queue->kind, "lasack");
	queue->parent = TC_H_ROOT;
	queue->ours = true;
	queue->bound = TC_INFLIGHT_AUTO;
	queue->below.backpressure = TC_INFLIGHT_AIR;
}

/* Diagnoses wlan0 anew. */
static const struct findings *look(struct case_machine *made)
{
	findings_clear(&made->findings);
	diagnose(&made->machine, access_point(made), &made->hardware, &made->findings);
	return &made->findings;
}

static void end(struct case_machine *made)
{
	findings_clear(&made->findings);
	machine_clear(&made->machine);
}

static const struct finding *about(struct case_machine *made, const char *what)
{
	for (size_t i = 0; i < made->findings.count; i++)
		if (!strcmp(made->findings.all[i].about, what))
			return &made->findings.all[i];
	return NULL;
}

/* How many findings are problems; WHAT has that state, and its commands have that word. */
static void expect(struct case_machine *made, const char *what, enum state state,
		   int problems, const char *typed, int *failures)
{
	const struct findings *all = look(made);
	const struct finding *one = about(made, what);
	int count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += all->all[i].state == STATE_PROBLEM;
	EXPECT_EQ(count, problems);
	EXPECT(one);
	if (!one)
		return;
	EXPECT_EQ(one->state, state);
	EXPECT_EQ(!!one->type, !!typed);
	if (one->type && typed)
		EXPECT(strstr(one->type, typed));
	if (one->state != state || (typed && (!one->type || !strstr(one->type, typed))))
		printf("# %s: %s\n# %s\n", what, one->said, one->type ?: "");
}

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

static void test_worst_of_several(int *failures)
{
	struct case_machine made;
	struct queue *queue;

	make_well(&made);
	queue = device_add_queue(access_point(&made));
	*queue = *queue_of(&made);
	queue->below.backpressure = TC_INFLIGHT_BUS;
	expect(&made, "backpressure", STATE_PROBLEM, 1, "lasack inflight off", failures);
	/* Without a bound it cannot have measured. */
	queue = &access_point(&made)->queues[1];
	queue->bound = TC_INFLIGHT_OFF;
	expect(&made, "backpressure", STATE_OK, 0, NULL, failures);
	end(&made);
}

/* What is said to be typed against bus and none is no fault afterwards. */
static void test_cure(int *failures)
{
	struct case_machine made;
	struct queue *queue;

	make_well(&made);
	strcpy(made.hardware.driver, "brcmfmac");
	*queue_of(&made) = (struct queue){ .kind = "htb", .parent = TC_H_ROOT };
	expect(&made, "qdisc", STATE_PROBLEM, 2, "root lasack", failures);
	queue = device_add_queue(access_point(&made));
	*queue = (struct queue){ .kind = "lasack", .parent = 0x10001, .ours = true };
	expect(&made, "backpressure", STATE_OK, 0, NULL, failures);
	expect(&made, "qdisc", STATE_OK, 0, NULL, failures);
	strcpy(queue_of(&made)->kind, "prio");
	expect(&made, "qdisc", STATE_PROBLEM, 2, "inflight auto", failures);
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
		{ "the worst of several queue disciplines", test_worst_of_several },
		{ "the cure", test_cure },
		{ "offload", test_offload },
		{ "airtime queue limits and airtime fairness", test_mac80211 },
		{ "power save", test_power_save },
		{ "where packets wait", test_place },
		{ "drivers", test_drivers },
		{ "names as words of a shell", test_words },
		{ "a report", test_report },
		{ NULL, NULL },
	};

	return tap_run(cases);
}
