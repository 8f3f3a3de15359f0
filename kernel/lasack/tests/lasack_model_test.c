// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the order of LAS-ACK, beside a model.
 *
 * Principle: the model knows no heap. It looks through all flows for the least
 * or the largest sum, and adds up sums by the rules of layer2-layer3
 * (Documentation/papers.md), section III.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "lasack/tests/lasack_packets.h"

/* The model: packets in order of arrival, looked through from end to end. */
#define MODEL_FLOWS	8
#define MODEL_PACKETS	64

struct model {
	struct {
		u32 flow, mark, payload;
	} packets[MODEL_PACKETS];
	u64 sums[MODEL_FLOWS];
	u32 acked[MODEL_FLOWS];
	int length;
};

/* Packets of flow @flow. */
static int model_count(const struct model *model, u32 flow)
{
	int i, count = 0;

	for (i = 0; i < model->length; i++)
		count += model->packets[i].flow == flow;
	return count;
}

/* Index of the first packet of the flow to serve, or to push out of; or -1. */
static int model_find(const struct model *model, bool serve)
{
	bool spare_lone = false, seen[MODEL_FLOWS] = {};
	int i, best = -1;
	u64 sum, best_sum;
	u32 flow;

	for (i = 0; i < model->length && !serve; i++)
		spare_lone |= model_count(model, model->packets[i].flow) > 1;
	for (i = 0; i < model->length; i++) {
		flow = model->packets[i].flow;
		sum = model->sums[flow];
		if (seen[flow] || (spare_lone && model_count(model, flow) == 1))
			continue;
		seen[flow] = true;
		if (best < 0 || (serve ? sum < best_sum : sum >= best_sum)) {
			best = i;
			best_sum = sum;
		}
	}
	return best;
}

static u32 model_take(struct model *model, bool serve)
{
	int found = model_find(model, serve);
	u32 mark;

	if (found < 0)
		return 0;
	mark = model->packets[found].mark;
	if (serve)
		model->sums[model->packets[found].flow] += model->packets[found].payload;
	model->length--;
	memmove(&model->packets[found], &model->packets[found + 1],
		(model->length - found) * sizeof(model->packets[0]));
	return mark;
}

/* Odd flows carry data, even ones ACKs. Few sizes, so that sums often tie. */
static struct tcp_segment model_add(struct model *model, u32 flow, u32 bytes, u32 mark)
{
	bool is_data = flow & 1;

	model->packets[model->length].flow = flow;
	model->packets[model->length].mark = mark;
	model->packets[model->length++].payload = is_data ? bytes : 0;
	if (is_data)
		return data(flow + 1, bytes);
	/* The first ACK only says where counting starts. */
	if (model->acked[flow])
		model->sums[flow] += bytes;
	else
		model->acked[flow] = U32_MAX - 5000;
	model->acked[flow] += bytes;
	return ack(flow + 1, model->acked[flow]);
}

static void agree_with_the_model(struct kunit *test, u32 seed)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct rnd_state rng;
	u32 mark, random;

	KUNIT_ASSERT_NOT_NULL(test, model);
	prandom_seed_state(&rng, seed);
	for (mark = 1; mark <= 20000; mark++) {
		random = prandom_u32_state(&rng);
		if (random % 8 < 3 || model->length == MODEL_PACKETS) {
			bool serving = random & 8;

			KUNIT_ASSERT_EQ(test, serving ? serve(test) : push_out(test),
					model_take(model, serving));
			continue;
		}
		add(test, model_add(model, (random >> 8) % MODEL_FLOWS,
				    (random >> 16) % 3 * 100, mark), mark);
	}
}

static void lasack_agrees_with_the_model(struct kunit *test)
{
	agree_with_the_model(test, 2);
}

/* The stations' runs are of one packet: the order is the same. */
static void lasack_agrees_with_the_model_in_runs(struct kunit *test)
{
	lasack_test_reshape(test, (struct lasack_shape) { .paper = true, .runs = true });
	agree_with_the_model(test, 3);
}

static struct kunit_case lasack_model_cases[] = {
	KUNIT_CASE(lasack_agrees_with_the_model),
	KUNIT_CASE(lasack_agrees_with_the_model_in_runs),
	{}
};

static struct kunit_suite lasack_model_suite = {
	.name		= "lasack_model",
	.init		= lasack_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_model_cases,
};

kunit_test_suite(lasack_model_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of LAS-ACK");
