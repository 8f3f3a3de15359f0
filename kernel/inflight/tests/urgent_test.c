// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of urgent packets: those that Wi-Fi sends as voice or video.
 *
 * Principle: which DSCP is which category is written in cfg80211_classify8021d() and in IEEE
 * 802.11-2016, table 10-1. How many packets may hurry follows from the numbers at the head of
 * account.c, counted by hand.
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <net/ipv6.h>
#include "inflight/account.c"
#include "inflight/category.c"

#define MS(ms)	((u64)(ms) * NSEC_PER_MSEC)
#define STALL	MS(100)
#define LATER	MS(60 * 1000)	/* when the first packet comes */

static int urgent_test_init(struct kunit *test)
{
	struct inflight_account *account = kunit_kzalloc(test, sizeof(*account), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, account);
	inflight_account_init(account, 2, STALL);
	test->priv = account;
	return 0;
}

/* Hands down an urgent packet if it may hurry. Returns whether it was. */
static bool hurry(struct kunit *test, u64 address, u64 now, struct inflight_ticket *ticket)
{
	if (!inflight_account_may_hurry(test->priv, address, now))
		return false;
	inflight_account_add_urgent(test->priv, address, 1, 214, now, ticket);
	return true;
}

/* Offers @count urgent packets at once. Returns how many hurried; they are freed. */
static u32 hurried(struct kunit *test, u64 address, u64 now, u32 count)
{
	struct inflight_ticket ticket;
	u32 i, sum = 0;

	for (i = 0; i < count; i++) {
		if (!hurry(test, address, now, &ticket))
			continue;
		inflight_account_remove(test->priv, &ticket, now, false);
		sum++;
	}
	return sum;
}

static void ordinary(struct kunit *test, u64 address, u64 now, u32 count)
{
	struct inflight_ticket ticket;

	while (count--) {
		inflight_account_add(test->priv, address, 1, 1514, now, &ticket);
		inflight_account_remove(test->priv, &ticket, now, false);
	}
}

/* The bound is full: they pass it. They fill nothing. */
static void urgent_needs_no_room(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket bulk[2], call;

	inflight_account_add(account, 1, 1, 1514, LATER, &bulk[0]);
	KUNIT_ASSERT_TRUE(test, hurry(test, 2, LATER, &call));
	KUNIT_EXPECT_TRUE(test, inflight_account_has_room(account));
	inflight_account_add(account, 1, 1, 1514, LATER, &bulk[1]);
	KUNIT_EXPECT_FALSE(test, inflight_account_has_room(account));
	KUNIT_EXPECT_EQ(test, account->out, 3U);
	inflight_account_remove(account, &call, LATER, false);
	KUNIT_EXPECT_FALSE(test, inflight_account_has_room(account));
	inflight_account_remove(account, &bulk[0], LATER, false);
	inflight_account_remove(account, &bulk[1], LATER, false);
	KUNIT_EXPECT_EQ(test, account->out, 0U);
	KUNIT_EXPECT_EQ(test, account->out_bytes, 0U);
	KUNIT_EXPECT_EQ(test, account->counted, 0U);
}

/* A station that voice has overtaken is not asleep: its packets count. */
static void urgent_overtakes_nobody(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket waits[2], call, more;

	inflight_account_add(account, 1, 1, 1514, LATER, &waits[0]);
	inflight_account_add(account, 1, 1, 1514, LATER, &waits[1]);
	inflight_account_expire(account, LATER + STALL);
	KUNIT_ASSERT_EQ(test, inflight_account_stalled(account), 1U);
	account->excused = 0;	/* that is for a device of which nothing is freed */
	KUNIT_ASSERT_TRUE(test, hurry(test, 2, LATER + STALL, &call));
	inflight_account_remove(account, &call, LATER + STALL + MS(1), false);
	inflight_account_add(account, 1, 1, 1514, LATER + STALL + MS(2), &more);
	KUNIT_EXPECT_EQ(test, account->counted, 1U);
}

/* A call of 50 packets in a second always hurries, also after a pause. */
static void urgent_call(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 500; i++)
		KUNIT_EXPECT_EQ(test, hurried(test, 1, LATER + MS(20 * i), 1), 1U);
	KUNIT_EXPECT_EQ(test, hurried(test, 1, 2 * LATER, 1), 1U);
}

/* Ten seconds of more than there may be: one in 16 ms, and a burst. Two stations: in 8 ms. */
static void urgent_download(struct kunit *test)
{
	u32 i, one = 0, two = 0;

	for (i = 0; i < 10000; i++)
		one += hurried(test, 1, LATER + MS(i), 3);
	KUNIT_EXPECT_GE(test, one, 10000U / 16);
	KUNIT_EXPECT_LE(test, one, 10000U / 16 + INFLIGHT_URGENT_BURST + 1);
	for (i = 0; i < 10000; i++) {
		two += hurried(test, 2, 2 * LATER + MS(i), 3);
		two += hurried(test, 3, 2 * LATER + MS(i), 3);
		two += hurried(test, 4, 2 * LATER + MS(i), 3);
	}
	KUNIT_EXPECT_GE(test, two, 10000U / 8);
	KUNIT_EXPECT_LE(test, two, 10000U / 8 + INFLIGHT_URGENT_BURST + 1);
}

/* Where much is sent, much may hurry: a quarter as much to one station, half as much to all. */
static void urgent_beside_others(struct kunit *test)
{
	u32 i, one = 0, all = 0;

	for (i = 0; i < 1000; i++) {
		ordinary(test, 9, LATER, 4);
		one += hurried(test, 1, LATER, 10);
	}
	KUNIT_EXPECT_GE(test, one, 1000U);
	KUNIT_EXPECT_LE(test, one, 1000U + INFLIGHT_URGENT_BURST);
	for (i = 0; i < 1000; i++) {
		ordinary(test, 9, LATER, 4);
		all += hurried(test, 2 + i % 5, LATER, 10);
	}
	KUNIT_EXPECT_GE(test, all, 2000U);
	KUNIT_EXPECT_LE(test, all, 2000U + 5 * INFLIGHT_URGENT_BURST);
}

/* A packet with this DS field for a device; Wi-Fi or not. */
static bool is_urgent(struct kunit *test, bool wifi, u16 protocol, u8 ds_field, u32 priority)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct sk_buff *skb = alloc_skb(ETH_HLEN + sizeof(struct ipv6hdr), GFP_KERNEL);
	bool urgent;
	u8 *head;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	dev->ieee80211_ptr = wifi ? (void *)dev : NULL;
	skb_put(skb, ETH_HLEN);
	skb_set_network_header(skb, ETH_HLEN);
	head = skb_put_zero(skb, sizeof(struct ipv6hdr));
	if (protocol == ETH_P_IPV6)
		ip6_flow_hdr((struct ipv6hdr *)head, ds_field, 0);
	else
		((struct iphdr *)head)->tos = ds_field;
	skb->protocol = htons(protocol);
	skb->priority = priority;
	skb->dev = dev;
	urgent = inflight_is_urgent(skb);
	inflight_demote(skb);
	KUNIT_EXPECT_FALSE(test, inflight_is_urgent(skb));
	kfree_skb(skb);
	return urgent;
}

static void urgent_by_dscp(struct kunit *test)
{
	static const struct {
		u8	dscp;
		bool	urgent;
	} classes[] = {
		{ 0, false }, { 8, false }, { 10, false }, { 18, false }, { 24, false },
		{ 31, false }, { 32, true }, { 34, true }, { 40, true }, { 44, true },
		{ 46, true }, { 48, true }, { 56, true }, { 63, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		u8 field = classes[i].dscp << 2 | 3;

		KUNIT_EXPECT_EQ_MSG(test, is_urgent(test, true, ETH_P_IP, field, 0),
				    classes[i].urgent, "IPv4, %u", classes[i].dscp);
		KUNIT_EXPECT_EQ_MSG(test, is_urgent(test, true, ETH_P_IPV6, field, 0),
				    classes[i].urgent, "IPv6, %u", classes[i].dscp);
	}
	KUNIT_EXPECT_FALSE(test, is_urgent(test, false, ETH_P_IP, 46 << 2, 0));
	KUNIT_EXPECT_FALSE(test, is_urgent(test, true, ETH_P_ARP, 46 << 2, 0));
}

/* A program may choose the user priority itself: SO_PRIORITY 256 to 263. */
static void urgent_by_priority(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, is_urgent(test, true, ETH_P_IP, 0, 256 + 6));
	KUNIT_EXPECT_FALSE(test, is_urgent(test, true, ETH_P_IP, 46 << 2, 256 + 0));
	KUNIT_EXPECT_FALSE(test, is_urgent(test, true, ETH_P_IP, 0, 6));
	KUNIT_EXPECT_TRUE(test, is_urgent(test, true, ETH_P_IP, 46 << 2, 264));
}

static struct kunit_case urgent_cases[] = {
	KUNIT_CASE(urgent_needs_no_room),
	KUNIT_CASE(urgent_overtakes_nobody),
	KUNIT_CASE(urgent_call),
	KUNIT_CASE(urgent_download),
	KUNIT_CASE(urgent_beside_others),
	KUNIT_CASE(urgent_by_dscp),
	KUNIT_CASE(urgent_by_priority),
	{}
};

static struct kunit_suite urgent_suite = {
	.name		= "inflight_urgent",
	.init		= urgent_test_init,
	.test_cases	= urgent_cases,
};

kunit_test_suite(urgent_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of urgent packets");
