// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the AQM: what it does to packets, and its states, fewer than flows.
 *
 * Principle: whole packets of one upload's receiver, or of one download. What must not change is
 * compared with the packet that was queued, and checksums are computed anew.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

static const u8 sack[] = { 1, 1, TCPOPT_SACK, 10, 0, 0, 1, 0, 0, 0, 2, 0 };
/* With the scale, and the beginning of a signature. */
static const u8 md5[] = { 1, TCPOPT_WINDOW, TCPOLEN_WINDOW, SCALE, TCPOPT_MD5SIG, 2, 1, 1 };

static void aqm_allows_less(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 4), 0U);
	/* These wait for five targets of 100 ms. */
	lasack_aqm_set(q->aqm, 8 * TARGET, 1514);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 5, 60), 0U);
	lasack_aqm_set_aggregates(q->aqm, true, false);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 65, 60), 0U);
	lasack_aqm_set_aggregates(q->aqm, true, true);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 125, 60), 0U);
	/* A strange ACK, far ahead, allows nothing. */
	begin(test, nth_ack(1 << 19));
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 185, 60), 0U);
}

static void aqm_allows_less_everywhere(struct kunit *test)
{
	struct frame like = nth_ack(0), first = accepts();

	like.ipv6 = true;
	first.ipv6 = true;
	begin(test, first);
	lowered(test, like, 1, 4);
	KUNIT_EXPECT_GT(test, lowered(test, like, 5, 60), 0U);
	like.ah = true;	/* its receiver would drop a packet that was changed */
	KUNIT_EXPECT_EQ(test, lowered(test, like, 65, 60), 0U);
	like = nth_ack(0);
	first = accepts();
	like.vlan = true;
	first.vlan = true;
	begin(test, first);
	lowered(test, like, 1, 4);
	KUNIT_EXPECT_GT(test, lowered(test, like, 5, 60), 0U);
}

static void aqm_knows_no_scale(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
	/* Too late: nobody knows whether the one that comes now is real. */
	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 61, 60), 0U);
}

static void aqm_has_two_scales(struct kunit *test)
{
	struct frame other = accepts();

	other.option[3] = 14;
	begin(test, other);
	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
}

static void aqm_leaves_signed_packets(struct kunit *test)
{
	struct frame f = accepts();

	set_options(&f, md5, sizeof(md5));
	begin(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
}

/* An option that is longer than its packet. */
static void aqm_leaves_malformed_packets(struct kunit *test)
{
	struct frame f = accepts();

	f.option[2] = 40;
	begin(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
}

/* A forged packet accepts the connection. Then the real ACKs come, which are elsewhere. */
static void aqm_is_lied_to(struct kunit *test)
{
	struct frame f = accepts();

	f.option[3] = 14;
	f.ack_seq = FIRST + (1U << 30);
	begin(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 61, 60), 0U);
}

/* Who else has the packet, a capture for example, sees it as it was. */
static void aqm_changes_no_clone(struct kunit *test)
{
	struct sk_buff *clones[40] = {}, *skb;
	struct tcp_segment seg;
	u32 i;

	begin(test, accepts());
	lowered(test, nth_ack(0), 1, 4);
	for (i = 0; i < ARRAY_SIZE(clones); i++)
		clones[i] = skb_clone(enqueue(test, nth_ack(5 + i)), GFP_KERNEL);
	wait(test, 5 * TARGET);
	while ((skb = dequeue(test))) {
		kfree_skb(skb);
		wait(test, 1);
	}
	for (i = 0; i < ARRAY_SIZE(clones); i++) {
		KUNIT_ASSERT_NOT_NULL(test, clones[i]);
		tcp_segment_parse(clones[i], &seg);
		KUNIT_EXPECT_EQ(test, window_of(clones[i], &seg), WINDOW);
		kfree_skb(clones[i]);
	}
}

/* @count packets, each made by @like, with ACKs @step apart. Return: how many are sent. */
static u32 sent_of(struct kunit *test, struct frame like, u32 count, u32 step, u32 *last)
{
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, sent = 0;

	for (i = 0; i < count; i++) {
		like.ack_seq += step;
		enqueue(test, like);
	}
	while ((skb = dequeue(test))) {
		tcp_segment_parse(skb, &seg);
		*last = seg.ack_seq;
		sent++;
		kfree_skb(skb);
	}
	return sent;
}

/* Eight segments are 11584 bytes: so many ACKs are one; and what they acknowledge is charged. */
static void aqm_thins_plain_acks(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 last;

	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, sent_of(test, nth_ack(0), 80, MSS, &last), 10U);
	KUNIT_EXPECT_EQ(test, last, FIRST + 80 * MSS);
	KUNIT_EXPECT_EQ(test, q->aqm->thinned, 70ULL);
	KUNIT_EXPECT_EQ(test, q->packets, 0U);
	KUNIT_EXPECT_EQ(test, q->memory, 0ULL);
}

/* Too few places: many connections share one. The last ACK of each says what no other says. */
static void aqm_thins_no_shared_flow(struct kunit *test)
{
	struct lasack_shape shape = { .flows = 16, .aqm = true };
	struct lasack_queue *from = test->priv, *q = lasack_queue_create(&shape);
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, n, last = 0;

	KUNIT_ASSERT_NOT_NULL(test, q);
	for (n = 0; n < 3; n++) {
		for (i = 0; i < 40; i++) {
			struct frame f = nth_ack(n);

			f.other = i;
			enqueue(test, f);
		}
		/* The first says nothing of what it acknowledges. */
		while (!n && (skb = dequeue(test)))
			kfree_skb(skb);
	}
	lasack_queue_take_over(q, from);
	lasack_queue_free(from);
	test->priv = q;
	lasack_aqm_set(q->aqm, TARGET, 1514);
	KUNIT_EXPECT_GT(test, q->overflow, 40ULL);
	while ((skb = dequeue(test))) {
		tcp_segment_parse(skb, &seg);
		last += seg.ack_seq == FIRST + 2 * MSS;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, last, 40U);
}

static u64 received(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < q->table->size; i++)
		bytes += lasack_flow_bytes(lasack_flow_at(q, i));
	return bytes;
}

/* The flow pays for the data; for the ACKs that are not sent it pays nothing. */
static void aqm_charges_the_same(struct kunit *test)
{
	u32 last;
	u64 thinned;

	begin(test, accepts());
	sent_of(test, nth_ack(0), 80, MSS, &last);
	thinned = received(test);
	lasack_test_reshape(test, (struct lasack_shape) {});
	enqueue(test, accepts());
	kfree_skb(lasack_queue_serve(test->priv));
	for (last = 1; last <= 80; last++)
		enqueue(test, nth_ack(last));
	while (lasack_queue_serve(test->priv))
		;
	KUNIT_EXPECT_GE(test, thinned, 80ULL * MSS);
	KUNIT_EXPECT_LE(test, thinned, received(test));
}

static void aqm_keeps_what_says_more(struct kunit *test)
{
	struct frame like = nth_ack(0);
	u32 last;

	begin(test, accepts());
	/* duplicates */
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, 0, &last), 20U);
	set_options(&like, sack, sizeof(sack));
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(20);
	like.flags |= TCPHDR_ECE;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(40);
	like.ae = true;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(60);
	like.payload = 100;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(80);
	like.flags |= TCPHDR_FIN;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 5, MSS, &last), 5U);
}

/* RFC 8289: the first after one interval above the target, then more and more. */
static void aqm_drops_late_data(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 marked = 0, sent = sent_late(test, late_data, 3, &marked);

	KUNIT_EXPECT_EQ(test, sent + q->aqm->codel_stats.drop_count, 30U);
	KUNIT_EXPECT_GE(test, q->aqm->codel_stats.drop_count, 2U);
	KUNIT_EXPECT_LE(test, q->aqm->codel_stats.drop_count, 6U);
	KUNIT_EXPECT_EQ(test, marked, 0U);
}

static void aqm_marks_late_data(struct kunit *test)
{
	struct frame like = late_data;
	u32 marked = 0, sent;

	like.ect = true;
	sent = sent_late(test, like, 3, &marked);
	KUNIT_EXPECT_EQ(test, sent, 30U);
	KUNIT_EXPECT_GE(test, marked, 2U);
	KUNIT_EXPECT_LE(test, marked, 6U);
}

/*
 * Two directions of TCP may take turns of half a second, five targets of 100 ms: packets that
 * waited for up to six targets, and so above it for five, are all sent.
 */
static void aqm_gives_tcp_time(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 marked = 0;

	lasack_aqm_set_aggregates(q->aqm, true, false);
	/* 10 ms are 20 where there are 100 ticks in a second: 0.6 s in all. */
	KUNIT_EXPECT_EQ(test, sent_late(test, late_data, 1, &marked), 30U);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_stats.drop_count, 0U);
}

/* Each state is the flow's that it names, and each flow's is its own. Return: how many are. */
static u32 states(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, taken = 0, had = 0;

	for (i = 0; i < q->aqm->count; i++) {
		if (!q->aqm->states[i].flow)
			continue;
		taken++;
		KUNIT_EXPECT_EQ(test, (u32)q->aqm->flows[q->aqm->states[i].flow - 1].state, i + 1);
	}
	for (i = 0; i < lasack_queue_places(q); i++)
		had += q->aqm->flows[i].state != 0;
	KUNIT_EXPECT_EQ(test, taken, had);
	return taken;
}

static struct frame segment_of(u16 other)
{
	return (struct frame) { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .other = other };
}

/* Other connections come with two packets each, all at once, and are served. */
static void others_pass(struct kunit *test, u32 count)
{
	struct sk_buff *skb;
	u32 i;

	for (i = 1; i <= count; i++) {
		enqueue(test, segment_of(i));
		enqueue(test, segment_of(i));
		while ((skb = dequeue(test)))
			kfree_skb(skb);
	}
}

/* What has one packet at a time needs none. */
static void states_for_those_that_wait(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 10; i++)
		begin(test, segment_of(i));
	KUNIT_EXPECT_EQ(test, states(test), 0U);
	others_pass(test, 10);
	KUNIT_EXPECT_EQ(test, states(test), 10U);
}

/* A flow that has packets keeps its state, however many others come. */
static void states_of_busy_flows_stay(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, mine, number;

	skb = enqueue(test, segment_of(0));
	tcp_segment_parse(skb, &seg);
	number = lasack_flow_number(q, flow_of(q, &seg));
	for (i = 0; i < 900; i++)
		enqueue(test, segment_of(0));
	kfree_skb(dequeue(test));
	mine = q->aqm->flows[number].state;
	KUNIT_EXPECT_NE(test, mine, 0U);
	for (i = 1; i <= 900; i++) {
		enqueue(test, segment_of(i));
		enqueue(test, segment_of(i));
		/* Least attained service: mostly the others. */
		kfree_skb(dequeue(test));
		kfree_skb(dequeue(test));
		if (i % 100 == 0)
			states(test);
	}
	KUNIT_EXPECT_GT(test, q->packets, 0U);
	KUNIT_EXPECT_EQ(test, (u32)q->aqm->flows[number].state, mine);
}

static void states_go_to_who_needs_them(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	others_pass(test, 2 * q->aqm->count);
	KUNIT_EXPECT_EQ(test, states(test), q->aqm->count);
}

/* More flows wait than there are states: each is served, and one of them may lose its state. */
static void states_run_out(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, count = 3 * q->aqm->count, sent = 0;
	struct sk_buff *skb;

	for (i = 0; i < 2 * count; i++)
		enqueue(test, segment_of(i % count));
	while ((skb = dequeue(test))) {
		kfree_skb(skb);
		sent++;
		if (sent % 100 == 0)
			states(test);
	}
	KUNIT_EXPECT_EQ(test, sent, 2 * count);
	KUNIT_EXPECT_EQ(test, states(test), q->aqm->count);
}

/* Its window was limited. Without a state, nothing is taken back that was allowed. */
static void states_lost_take_nothing_back(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, number;

	begin(test, accepts());
	lowered(test, nth_ack(0), 1, 4);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 5, 60), 0U);
	skb = enqueue(test, nth_ack(65));
	tcp_segment_parse(skb, &seg);
	number = lasack_flow_number(q, flow_of(q, &seg));
	kfree_skb(dequeue(test));
	KUNIT_EXPECT_NE(test, (u32)q->aqm->flows[number].state, 0U);
	others_pass(test, q->aqm->count);
	KUNIT_EXPECT_EQ(test, (u32)q->aqm->flows[number].state, 0U);
	/* Many ACKs wait. The first allows all that the receiver does; then there is a limit. */
	for (i = 66; i < 86; i++)
		enqueue(test, nth_ack(i));
	wait(test, 5 * TARGET);
	skb = dequeue(test);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	tcp_segment_parse(skb, &seg);
	KUNIT_EXPECT_EQ(test, window_of(skb, &seg), WINDOW);
	kfree_skb(skb);
	while ((skb = dequeue(test)))
		kfree_skb(skb);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 86, 60), 0U);
}

/* A forgotten flow leaves none behind. */
static void states_of_forgotten_flows(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	others_pass(test, 50);
	lasack_queue_forget(q);
	others_pass(test, 50);
	KUNIT_EXPECT_EQ(test, states(test), 50U);
}

static struct kunit_case lasack_aqm_cases[] = {
	KUNIT_CASE(aqm_allows_less),
	KUNIT_CASE(aqm_allows_less_everywhere),
	KUNIT_CASE(aqm_knows_no_scale),
	KUNIT_CASE(aqm_has_two_scales),
	KUNIT_CASE(aqm_leaves_signed_packets),
	KUNIT_CASE(aqm_leaves_malformed_packets),
	KUNIT_CASE(aqm_is_lied_to),
	KUNIT_CASE(aqm_changes_no_clone),
	KUNIT_CASE(aqm_thins_plain_acks),
	KUNIT_CASE(aqm_thins_no_shared_flow),
	KUNIT_CASE(aqm_charges_the_same),
	KUNIT_CASE(aqm_keeps_what_says_more),
	KUNIT_CASE(aqm_drops_late_data),
	KUNIT_CASE(aqm_marks_late_data),
	KUNIT_CASE(aqm_gives_tcp_time),
	KUNIT_CASE(states_for_those_that_wait),
	KUNIT_CASE(states_of_busy_flows_stay),
	KUNIT_CASE(states_go_to_who_needs_them),
	KUNIT_CASE(states_run_out),
	KUNIT_CASE(states_lost_take_nothing_back),
	KUNIT_CASE(states_of_forgotten_flows),
	{}
};

static struct kunit_suite lasack_aqm_suite = {
	.name = "lasack_aqm",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_aqm_cases,
};

kunit_test_suite(lasack_aqm_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the AQM of LAS-ACK");
