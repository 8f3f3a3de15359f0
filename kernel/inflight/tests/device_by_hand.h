/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device made up packet by packet, its times chosen by hand. Included by the suites that use it,
 * as the sources are that they test.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "inflight/account.c"
#include "inflight/haste.c"
#include "inflight/late.c"
#include "inflight/pace.c"
#include "inflight/sleep.c"

#define MS(ms)	((u64)(ms) * NSEC_PER_MSEC)
#define STALL	MS(100)
#define ROOM	256	/* packets, in the device */

static int device_by_hand_init(struct kunit *test)
{
	struct inflight_account *account = kunit_kzalloc(test, sizeof(*account), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, account);
	inflight_account_init(account, 2, STALL);
	test->priv = account;
	return 0;
}

static struct inflight_ticket hand_down(struct kunit *test, u64 address, u64 now)
{
	struct inflight_ticket ticket;

	inflight_account_add(test->priv, address, 1, 1514, now, &ticket);
	return ticket;
}

static __maybe_unused struct inflight_ticket
hand_down_gso(struct kunit *test, u64 address, u16 segs, u64 now)
{
	struct inflight_ticket ticket;

	inflight_account_add(test->priv, address, segs, segs * 1448 + 66, now, &ticket);
	return ticket;
}

static void set_free(struct kunit *test, struct inflight_ticket *ticket, u64 now)
{
	inflight_account_remove(test->priv, ticket, now, false);
}

static void expire(struct kunit *test, u64 now)
{
	inflight_account_expire(test->priv, now);
}

/* A packet of another station is handed down then, and freed. */
static void overtake(struct kunit *test, u64 then)
{
	struct inflight_ticket other = hand_down(test, 99, then);

	set_free(test, &other, then + MS(1));
}

static bool has_room(struct kunit *test)
{
	return inflight_account_has_room(test->priv);
}

static u32 counted(struct kunit *test)
{
	struct inflight_account *account = test->priv;

	return account->counted;
}

/* Nothing is out and nothing is left over. */
static void expect_empty(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, account->out, 0U);
	KUNIT_EXPECT_EQ(test, account->out_bytes, 0U);
	KUNIT_EXPECT_EQ(test, account->counted, 0U);
	KUNIT_EXPECT_EQ(test, account->dql.num_queued, account->dql.num_completed);
	for (i = 0; i < ARRAY_SIZE(account->stations); i++) {
		KUNIT_EXPECT_EQ(test, account->stations[i].packets, 0U);
		KUNIT_EXPECT_EQ(test, account->stations[i].counted, 0U);
		KUNIT_EXPECT_EQ(test, account->stations[i].bytes, 0U);
	}
}
