// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stations send. Flows that are not TCP are counted, and made less. lasack_heard.c counts TCP.
 *
 * Principle: a TCP upload is charged by the ACKs that pass through the queue. Packets of QUIC
 * or any other protocol do not say how much the station has sent. So the bytes are counted
 * when they arrive from the station. They are charged to the flow with its next packet that
 * goes out, as if that packet acknowledged them.
 *
 * Nor can anybody but its two ends read or change the windows of such an upload. If its packets
 * that go out wait for too long, lasack_aqm.c says so. Then one of the packets that come in is
 * marked if its sender knows ECN, and else dropped. To its sender that is congestion.
 *
 * The hook is netfilter's first one of the device. It sees packets before a bridge or VLAN takes
 * them, and after GRO.
 *
 * Locking: the receive path never takes the qdisc lock. The counts are kept in a table with
 * a lock of its own, which is held while four places are looked at. The queue discipline
 * takes this lock inside the qdisc lock; the hook takes it alone.
 *
 * What a station sends in another's name is not charged to that one: the packets that go out must
 * go to the MAC address that those that came in are from.
 *
 * The table is bounded. A new flow takes the one of four places that was used least
 * recently. Then the bytes of the old flow are not charged. That flow has neither sent nor
 * received a packet for longer than the other three. The hash is keyed, and the whole key is
 * compared.
 */
#include <linux/err.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/cfg80211.h>
#include <net/inet_ecn.h>
#include "lasack/lasack_flow.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_state.h"

/*
 * Not the first: after a loss that is often the packet that is sent again, and everything behind it
 * waits for it.
 */
#define LASACK_SEEN_TELL	3
/*
 * Bytes that nothing has answered for so long are not charged: a camera's of a whole night would be
 * charged at once when somebody sends it a packet. Nor is its sender told of what waited before.
 */
#define LASACK_SEEN_AGE		HZ

/* TCP is charged by its ACKs. Without a key there is no flow. */
static bool lasack_is_observed(const struct tcp_segment *seg)
{
	return segment_has_key(seg) && seg->class != SEGMENT_TCP;
}

static struct lasack_seen *lasack_observer_set(struct lasack_observer *observer,
					       const struct segment_key *key)
{
	return observer->seen[siphash(key, sizeof(*key), &observer->hash_key) %
			      LASACK_SEEN_SETS];
}

/* The place in its set of the station's flow, or NULL. */
static struct lasack_seen *lasack_observer_find(struct lasack_seen *set,
						const struct segment_key *key, u64 station)
{
	int way;

	for (way = 0; way < LASACK_SEEN_WAYS; way++) {
		if (set[way].used && set[way].station == station &&
		    segment_key_equal(&set[way].key, key))
			return &set[way];
	}
	return NULL;
}

/* Make room in a set, for a flow that is not in it. */
static struct lasack_seen *lasack_observer_place(struct lasack_observer *observer,
						 struct lasack_seen *set,
						 const struct segment_key *key, u64 station)
{
	struct lasack_seen *oldest = set;
	int way;

	for (way = 1; way < LASACK_SEEN_WAYS; way++) {
		/* By age: the clock wraps. */
		if (observer->clock - set[way].used > observer->clock - oldest->used)
			oldest = &set[way];
	}
	*oldest = (struct lasack_seen) { .key = *key, .station = station, .since = jiffies };
	return oldest;
}

/**
 * lasack_observer_note() - a packet has come from a station
 * @observer: the observer
 * @seg: what it is
 * @station: its MAC address
 *
 * Return: whether its sender is to be told to send less.
 */
bool lasack_observer_note(struct lasack_observer *observer,
			  const struct tcp_segment *seg, u64 station)
{
	struct lasack_seen *set, *seen;
	bool too_fast = false;

	if (!lasack_is_observed(seg) || !seg->payload)
		return false;
	set = lasack_observer_set(observer, &seg->key);
	spin_lock_bh(&observer->lock);
	observer->clock += observer->clock == U32_MAX ? 2 : 1;
	seen = lasack_observer_find(set, &seg->key, station) ?:
	       lasack_observer_place(observer, set, &seg->key, station);
	seen->used = observer->clock;
	if (time_after32(jiffies, seen->since + LASACK_SEEN_AGE)) {
		seen->since = jiffies;
		seen->bytes = 0;
		seen->tell = 0;
	}
	seen->bytes = min(seen->bytes + seg->payload, LASACK_MAX_ACKED);
	if (seen->tell && !--seen->tell) {
		too_fast = true;
		observer->sum.slowed++;
	}
	observer->sum.packets++;
	observer->sum.bytes += seg->payload;
	spin_unlock_bh(&observer->lock);
	return too_fast;
}

/**
 * lasack_observer_take() - what has come since the flow's last packet out, and not too long ago
 * @observer: the observer
 * @key: of the flow
 * @station: where it goes
 *
 * Return: bytes, LASACK_MAX_ACKED at most.
 */
u32 lasack_observer_take(struct lasack_observer *observer,
			 const struct segment_key *key, u64 station)
{
	struct lasack_seen *set = lasack_observer_set(observer, key), *seen;
	u32 bytes = 0;

	spin_lock_bh(&observer->lock);
	seen = lasack_observer_find(set, key, station);
	if (seen) {
		swap(bytes, seen->bytes);
		if (time_after32(jiffies, seen->since + LASACK_SEEN_AGE))
			bytes = 0;
		seen->since = jiffies;
		seen->used = observer->clock;
	}
	spin_unlock_bh(&observer->lock);
	return bytes;
}

/* What lasack_observer_take() would take. */
u32 lasack_observer_untaken(struct lasack_observer *observer, const struct segment_key *key,
			    u64 station)
{
	struct lasack_seen *seen;
	u32 bytes = 0;

	spin_lock_bh(&observer->lock);
	seen = lasack_observer_find(lasack_observer_set(observer, key), key, station);
	if (seen && !time_after32(jiffies, seen->since + LASACK_SEEN_AGE))
		bytes = seen->bytes;
	spin_unlock_bh(&observer->lock);
	return bytes;
}

/* Are those who send end stations? All that a laptop hears is from its access point, for others. */
bool lasack_observer_has_stations(const struct lasack_observer *observer)
{
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS) && IS_ENABLED(CONFIG_CFG80211)
	const struct net_device *dev = observer->hook.dev;

	if (dev && dev->ieee80211_ptr)
		return dev->ieee80211_ptr->iftype == NL80211_IFTYPE_AP ||
		       dev->ieee80211_ptr->iftype == NL80211_IFTYPE_AP_VLAN ||
		       dev->ieee80211_ptr->iftype == NL80211_IFTYPE_P2P_GO;
#endif
	return true;
}

/**
 * lasack_observer_answer() - a flow begins: does it answer what its station has asked?
 * @observer: the observer
 * @key: of the flow
 * @station: where it goes
 *
 * A question is the SYN of a connection that the station begins, or a datagram. Nobody else can
 * send in the station's name. What has no ports is none, such as a ping's answers.
 *
 * Return: whether it does, and was asked a moment ago.
 */
bool lasack_observer_answer(struct lasack_observer *observer, const struct segment_key *key,
			    u64 station)
{
	if (!lasack_observer_has_stations(observer))
		return false;
	if (key->class == SEGMENT_PORTS && key->protocol == IPPROTO_UDP)
		return lasack_observer_untaken(observer, key, station);
	return lasack_observer_answer_syn(observer, key, station);
}

/**
 * lasack_observer_slow() - what goes out in a flow waits for too long
 * @observer: the observer
 * @key: of the flow
 * @station: where it goes
 *
 * One of the flow's next packets that come in tells its sender: LASACK_SEEN_TELL.
 */
void lasack_observer_slow(struct lasack_observer *observer, const struct segment_key *key,
			  u64 station)
{
	struct lasack_seen *seen;

	spin_lock_bh(&observer->lock);
	seen = lasack_observer_find(lasack_observer_set(observer, key), key, station);
	if (seen && !seen->tell) {
		seen->tell = LASACK_SEEN_TELL;
		seen->since = jiffies;
	}
	spin_unlock_bh(&observer->lock);
}

/* CE, if the sender of the packet knows ECN. Return: whether it does. */
static bool lasack_observer_mark(struct sk_buff *skb)
{
	u32 header = 0;

	if (skb->protocol == htons(ETH_P_IP))
		header = sizeof(struct iphdr);
	else if (skb->protocol == htons(ETH_P_IPV6))
		header = sizeof(struct ipv6hdr);
	return header && !skb_ensure_writable(skb, skb_network_offset(skb) + header) &&
	       INET_ECN_set_ce(skb);
}

/* As lasack_station_address(), of one that comes in. */
static u64 lasack_observer_sender(const struct sk_buff *skb)
{
	if ((skb->dev && skb->dev->type != ARPHRD_ETHER) || !skb_mac_header_was_set(skb))
		return 0;
	return ether_addr_to_u64(eth_hdr(skb)->h_source);
}

/* What netfilter asks of each packet that comes in. */
unsigned int lasack_observer_hook(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct lasack_observer *observer = priv;
	u64 sender = lasack_observer_sender(skb);
	struct lasack_echo_data data;
	struct tcp_segment seg;

	tcp_segment_parse_received(skb, &seg);
	lasack_observer_note_tcp(observer, &seg, sender, skb->len,
				 lasack_echo_read(skb, &seg, &data) ? &data : NULL);
	if (likely(!lasack_observer_note(observer, &seg, sender)))
		return NF_ACCEPT;
	return lasack_observer_mark(skb) ? NF_ACCEPT : NF_DROP;
}

/* Return: an observer that sees nothing yet, or NULL: no memory. */
struct lasack_observer *lasack_observer_alloc(void)
{
	struct lasack_observer *observer = kvzalloc(sizeof(*observer), GFP_KERNEL);

	if (!observer)
		return NULL;
	spin_lock_init(&observer->lock);
	observer->heard = jiffies - 2 * LASACK_DEAF_AGE;
	get_random_bytes(&observer->hash_key, sizeof(observer->hash_key));
	return observer;
}

#ifdef CONFIG_NETFILTER_INGRESS
static int lasack_observer_attach(struct lasack_observer *observer, struct net_device *dev)
{
	int err;

	observer->hook = (struct nf_hook_ops) {
		.hook = lasack_observer_hook,
		.priv = observer,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	err = nf_register_net_hook(dev_net(dev), &observer->hook);
	observer->attached = !err;
	return err;
}

static void lasack_observer_detach(struct lasack_observer *observer)
{
	/* Who holds the last reference may let it go only after the device has moved. */
	nf_unregister_net_hook(dev_net(observer->hook.dev), &observer->hook);
	synchronize_net();
}
#else
static int lasack_observer_attach(struct lasack_observer *observer, struct net_device *dev)
{
	return -EOPNOTSUPP;
}

static void lasack_observer_detach(struct lasack_observer *observer)
{
}
#endif

/**
 * lasack_observer_create() - watch what a device receives
 * @dev: the device; the caller's reference on it must last
 *
 * Return: the observer, to be given to lasack_observer_free(), or an ERR_PTR.
 */
struct lasack_observer *lasack_observer_create(struct net_device *dev)
{
	struct lasack_observer *observer = lasack_observer_alloc();
	int err;

	if (!observer)
		return ERR_PTR(-ENOMEM);
	err = lasack_observer_attach(observer, dev);
	if (!err)
		return observer;
	kvfree(observer);
	return ERR_PTR(err);
}

/* What the observer has counted so far, on all processors. */
void lasack_observer_read(struct lasack_observer *observer, struct lasack_observed *seen)
{
	spin_lock_bh(&observer->lock);
	*seen = observer->sum;
	spin_unlock_bh(&observer->lock);
}

/* Also of NULL. Waits for the packets under way. */
void lasack_observer_free(struct lasack_observer *observer)
{
	if (!observer)
		return;
	if (observer->attached)
		lasack_observer_detach(observer);
	kvfree(observer);
}
