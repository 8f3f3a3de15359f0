// SPDX-License-Identifier: GPL-2.0-only
/* Trees of queue disciplines, made up: which of them hold packets, and in whose order. */
#include "made_machine.h"

static void test_worst_of_several(int *failures)
{
	struct case_machine made;
	struct queue *queue;

	make_well(&made);
	queue = device_add_queue(access_point(&made));
	*queue = *queue_of(&made);
	queue->below.backpressure = TC_INFLIGHT_BUS;
	expect(&made, "backpressure", STATE_PROBLEM, 1, "lasack inflight off", failures);
	/* A handle that is taken would be refused. */
	queue->handle = 0x10000;
	queue_of(&made)->handle = 0x20000;
	expect(&made, "backpressure", STATE_PROBLEM, 1, "root handle 3: htb", failures);
	EXPECT(strstr(about(&made, "backpressure")->type, "parent 3: classid 3:1 htb rate RATE"));
	EXPECT(strstr(about(&made, "backpressure")->type, "parent 3:1 lasack inflight off"));
	/* Without a bound it cannot have measured. */
	queue = &access_point(&made)->queues[1];
	queue->bound = TC_INFLIGHT_OFF;
	expect(&made, "backpressure", STATE_OK, 0, NULL, failures);
	end(&made);
}

/* Replaces the tree of queue disciplines of wlan0 by a root. */
static struct queue *plant(struct case_machine *made, const char *kind)
{
	struct queue root = { .handle = 0x10000, .parent = TC_H_ROOT };

	access_point(made)->queue_count = 0;
	strcpy(root.kind, kind);
	return memcpy(device_add_queue(access_point(made)), &root, sizeof(root));
}

static struct queue *graft(struct case_machine *made, uint32_t parent, const char *kind)
{
	struct queue child = { .parent = parent };

	strcpy(child.kind, kind);
	return memcpy(device_add_queue(access_point(made)), &child, sizeof(child));
}

static struct queue *graft_ours(struct case_machine *made, uint32_t parent, uint32_t bound)
{
	struct queue *child = graft(made, parent, "lasack");

	child->ours = true;
	child->bound = bound;
	child->below.backpressure = TC_INFLIGHT_AIR;
	return child;
}

/* What is said to be typed against bus and none is no fault afterwards. */
static void test_cure(int *failures)
{
	struct case_machine made;

	make_well(&made);
	strcpy(made.hardware.driver, "brcmfmac");
	plant(&made, "pfifo_fast");
	expect(&made, "qdisc", STATE_PROBLEM, 2, "root lasack", failures);
	plant(&made, "htb")->limits_rate = true;
	graft_ours(&made, 0x10001, TC_INFLIGHT_OFF);
	expect(&made, "backpressure", STATE_OK, 0, NULL, failures);
	expect(&made, "qdisc", STATE_OK, 0, NULL, failures);
	EXPECT(!strcmp(about(&made, "qdisc")->said,
		       "htb limits the rate, so packets wait in lasack."));
	end(&made);
}

/* Without one of ours: what limits the rate holds packets with any driver. */
static void test_shapers(int *failures)
{
	struct case_machine made;

	make_well(&made);
	strcpy(made.hardware.driver, "brcmfmac");
	plant(&made, "cake");
	expect(&made, "qdisc", STATE_PROBLEM, 2, "root lasack", failures);
	queue_of(&made)->limits_rate = true;
	expect(&made, "qdisc", STATE_NOTE, 0, NULL, failures);
	EXPECT(strstr(about(&made, "qdisc")->said, "so packets wait in it. Unlike lasack, cake"));
	expect(&made, "backpressure", STATE_OK, 0, NULL, failures);
	EXPECT(strstr(about(&made, "backpressure")->said, "cake sends at its rate"));

	plant(&made, "htb")->limits_rate = true;
	expect(&made, "qdisc", STATE_PROBLEM, 1, "parent CLASS lasack inflight off", failures);
	graft(&made, 0x10010, "prio")->handle = 0x20000;
	expect(&made, "qdisc", STATE_PROBLEM, 1, "tc class show dev wlan0", failures);
	graft(&made, 0x20001, "fq");
	expect(&made, "qdisc", STATE_NOTE, 0, NULL, failures);
	EXPECT(strstr(about(&made, "qdisc")->said, "so packets wait in fq. Unlike lasack, fq"));

	plant(&made, "tbf")->limits_rate = true;
	expect(&made, "qdisc", STATE_PROBLEM, 1, "parent 1:1 lasack inflight off", failures);
	graft(&made, 0x10001, "bfifo");
	expect(&made, "qdisc", STATE_PROBLEM, 1, "parent 1:1 lasack inflight off", failures);

	/* What orders other packets does not order those that wait. */
	plant(&made, "prio");
	graft(&made, 0x10001, "htb")->limits_rate = true;
	graft(&made, 0x10002, "fq_codel");
	expect(&made, "qdisc", STATE_PROBLEM, 1, "parent CLASS lasack", failures);

	/* The one that limits is not above ours. */
	plant(&made, "prio");
	graft(&made, 0x10001, "tbf")->limits_rate = true;
	graft_ours(&made, 0x10002, TC_INFLIGHT_OFF);
	expect(&made, "qdisc", STATE_PROBLEM, 2, "parent 1:2 lasack inflight auto", failures);
	end(&made);
}

/* The kernel's own mq and its children have the handle 0. */
static void test_mq(int *failures)
{
	struct case_machine made;
	struct queue root;

	make_well(&made);
	for (uint32_t handle = 0; handle <= 0x10000; handle += 0x10000) {
		plant(&made, "mq")->handle = handle;
		for (uint32_t minor = 1; minor <= 3; minor++)
			graft(&made, handle + minor, "fq_codel");
		expect(&made, "qdisc", STATE_PROBLEM, 1, "root lasack", failures);
		EXPECT(strstr(about(&made, "qdisc")->said, "The queue discipline is mq. "));
		graft_ours(&made, handle + 4, TC_INFLIGHT_AUTO);
		expect(&made, "qdisc", STATE_PROBLEM, 1, "tc qdisc replace dev wlan0 root lasack",
		       failures);
		EXPECT(strstr(about(&made, "qdisc")->said,
			      "lasack is below 1 of the 4 queues of mq."));
		plant(&made, "mq")->handle = handle;
		for (uint32_t minor = 1; minor <= 4; minor++)
			graft_ours(&made, handle + minor, TC_INFLIGHT_AUTO);
		expect(&made, "qdisc", STATE_OK, 0, NULL, failures);
		EXPECT(!strcmp(about(&made, "qdisc")->said, "lasack is below mq."));
		/* In whatever order the kernel lists them. */
		root = *queue_of(&made);
		*queue_of(&made) = access_point(&made)->queues[4];
		access_point(&made)->queues[4] = root;
		expect(&made, "qdisc", STATE_OK, 0, NULL, failures);
		EXPECT(!strcmp(about(&made, "qdisc")->said, "lasack is below mq."));
	}
	/* Each with a queue discipline between. */
	plant(&made, "mq");
	for (uint32_t minor = 1; minor <= 2; minor++) {
		struct queue *shaper = graft(&made, 0x10000 + minor, "htb");

		shaper->handle = minor << 20;
		shaper->limits_rate = true;
		graft_ours(&made, (minor << 20) + 1, TC_INFLIGHT_OFF);
	}
	expect(&made, "qdisc", STATE_OK, 0, NULL, failures);
	end(&made);
}

static void test_child(int *failures)
{
	struct case_machine made;

	make_well(&made);
	plant(&made, "prio");
	graft_ours(&made, 0x10003, TC_INFLIGHT_OFF);
	expect(&made, "qdisc", STATE_PROBLEM, 1,
	       "tc qdisc replace dev wlan0 parent 1:3 lasack inflight auto", failures);
	EXPECT(!strncmp(about(&made, "qdisc")->said, "lasack has no bound", 19));
	access_point(&made)->queues[1].bound = 16;
	expect(&made, "qdisc", STATE_OK, 0, NULL, failures);
	EXPECT(!strcmp(about(&made, "qdisc")->said, "lasack is below prio."));

	plant(&made, "prio");
	strcpy(graft_ours(&made, 0x10001, 8)->kind, "inflight");
	access_point(&made)->queues[1].handle = 0xa0000;
	expect(&made, "qdisc", STATE_PROBLEM, 1, "parent a:1 fq_codel", failures);
	graft(&made, 0xa0001, "fq_codel");
	expect(&made, "qdisc", STATE_OK, 0, NULL, failures);

	/* As net.core.default_qdisc makes it: a command could not name its class. */
	plant(&made, "inflight")->handle = 0;
	queue_of(&made)->ours = true;
	queue_of(&made)->bound = TC_INFLIGHT_AUTO;
	queue_of(&made)->below.backpressure = TC_INFLIGHT_AIR;
	expect(&made, "qdisc", STATE_PROBLEM, 1, "root lasack", failures);

	/* A dump that was made while the tree changed. */
	plant(&made, "prio")->parent = 0x20001;
	queue_of(&made)->ours = true;
	graft(&made, 0x10001, "prio")->handle = 0x20000;
	graft(&made, 0x30001, "tbf")->limits_rate = true;
	look(&made);
	end(&made);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "the worst of several queue disciplines", test_worst_of_several },
		{ "the cure", test_cure },
		{ "what limits the rate", test_shapers },
		{ "mq", test_mq },
		{ "one of ours as a child", test_child },
		{ NULL, NULL },
	};

	return tap_run(cases);
}
