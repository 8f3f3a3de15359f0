// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of categories: which packets Wi-Fi may send as voice or video, and how one is sent as
 * best effort instead.
 *
 * Principle: which DSCP may be which category is written in cfg80211_classify8021d() of Linux 6.1
 * and 7.2, in RFC 8325 and in OpenWrt's QoS map.
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <net/ipv6.h>
#include "inflight/category.c"

/* A driver with a queue for each category, which looks at what the priority has become. */
static u16 select_queue(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev)
{
	skb->priority -= 256;
	return 3 - skb->priority;
}

static const struct net_device_ops four_queues = { .ndo_select_queue = select_queue };

/* Sent as best effort: by priority, or in the driver's queue for that, unless it is stopped. */
static void expect_demoted(struct kunit *test, struct net_device *dev, struct sk_buff *skb)
{
	struct netdev_queue *queues = kunit_kcalloc(test, 4, sizeof(*queues), GFP_KERNEL);
	u32 priority = skb->priority;

	KUNIT_ASSERT_NOT_NULL(test, queues);
	dev->_tx = queues;
	dev->real_num_tx_queues = 1;
	inflight_demote(skb);
	KUNIT_EXPECT_FALSE(test, inflight_is_urgent(skb));
	KUNIT_EXPECT_EQ(test, skb->priority, 256U);
	dev->real_num_tx_queues = 4;
	dev->netdev_ops = &four_queues;
	inflight_demote(skb);
	KUNIT_EXPECT_EQ(test, skb->priority, 0U);
	KUNIT_EXPECT_EQ(test, skb_get_queue_mapping(skb), 3);
	skb->priority = priority;
	skb_set_queue_mapping(skb, 0);
	set_bit(__QUEUE_STATE_DRV_XOFF, &queues[3].state);
	inflight_demote(skb);
	KUNIT_EXPECT_EQ(test, skb->priority, 0U);
	KUNIT_EXPECT_EQ(test, skb_get_queue_mapping(skb), 0);
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
	expect_demoted(test, dev, skb);
	kfree_skb(skb);
	return urgent;
}

static void category_by_dscp(struct kunit *test)
{
	static const struct {
		u8	dscp;
		bool	urgent;
	} classes[] = {
		{ 0, false }, { 1, false }, { 8, false }, { 10, false }, { 18, false },
		{ 22, false }, { 24, true }, { 26, true }, { 30, true }, { 32, true },
		{ 34, true }, { 40, true }, { 44, true }, { 46, true }, { 48, true },
		{ 56, true }, { 63, true },
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
	KUNIT_EXPECT_TRUE(test, is_urgent(test, true, ETH_P_80221, 0, 0));
	KUNIT_EXPECT_TRUE(test, is_urgent(test, true, ETH_P_MPLS_UC, 0, 0));
}

/* A program may choose the user priority itself: SO_PRIORITY 256 to 263. */
static void category_by_priority(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, is_urgent(test, true, ETH_P_IP, 0, 256 + 6));
	KUNIT_EXPECT_FALSE(test, is_urgent(test, true, ETH_P_IP, 46 << 2, 256 + 0));
	KUNIT_EXPECT_FALSE(test, is_urgent(test, true, ETH_P_IP, 0, 6));
	KUNIT_EXPECT_TRUE(test, is_urgent(test, true, ETH_P_IP, 46 << 2, 264));
}

static struct kunit_case category_cases[] = {
	KUNIT_CASE(category_by_dscp),
	KUNIT_CASE(category_by_priority),
	{}
};

static struct kunit_suite category_suite = {
	.name		= "inflight_category",
	.test_cases	= category_cases,
};

kunit_test_suite(category_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of categories");
