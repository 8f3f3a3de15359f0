// SPDX-License-Identifier: GPL-2.0-only
/* Idle Sense and AAP: see idle_sense.h. */
#include <math.h>

#include "idle_sense.h"

/*
 * The paper's section 4.2: every 5 transmissions, multiplicative decrease of the
 * access probability 2 / CW by 1 / 1.0666 below the target of idle slots, and
 * additive increase by 0.001 above. Its mean of 5 is so noisy that the window
 * settles where steps up and down balance, 45 % off the target with two
 * stations. So the mean is a running one here, the steps down are a sixteenth,
 * and the steps up a quarter of that, as large as those down with some ten
 * stations.
 */
#define TRANSMISSIONS	5
#define DECREASE	(1 + 0.0666 / 16)
#define INCREASE	(0.001 / 64)
#define MEMORY		800	/* transmissions of the running mean */

#define WINDOW_MAX	65535.0

double idle_sense_target(double collision_slots)
{
	double low = 1e-9, high = 1, x;

	while (high - low > 1e-12) {
		x = (low + high) / 2;
		if (1 - x > (1 - 1 / collision_slots) * exp(-x))
			low = x;
		else
			high = x;
	}
	return exp(-low) / -expm1(-low);
}

/* Mean idle slots heard, given who the access point's window of @w makes win. */
static double idle_slots(double w, double head_start)
{
	double p = 2 / w, x = w / ((w - 1) * (w - 2)), quiet = exp(-x);
	double begins = 1 - (1 - p) * quiet;
	double collides = 1 - (p + (1 - p) * x) * quiet / begins;
	double after_success = (1 - 2 / (3 * w)) / begins;
	double after_collision = 0;

	/* Slot k has passed if the access point's count was k + head_start or more. */
	for (int k = 1; k + head_start < w; k++)
		after_collision += fmin(1, 1 - (k + head_start) / w) * exp(-x * k);
	return (1 - collides) * after_success + collides * after_collision;
}

double aap_window(double target, double head_start)
{
	double low = 2 + 1e-6, high = 1e4;

	while (high - low > 1e-6) {
		double middle = (low + high) / 2;

		if (idle_slots(middle, head_start) < target)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void idle_sense_start(struct idle_sense *is, double window, double target)
{
	*is = (struct idle_sense){
		.window = window, .target = target, .mean = target,
	};
}

void idle_sense_hear(struct idle_sense *is, double idle_slots)
{
	/* Longer than any count lasts: nobody contended, so it tells nothing of contention. */
	if (idle_slots > is->window)
		return;
	is->mean += (idle_slots - is->mean) / MEMORY;
	if (++is->heard % TRANSMISSIONS)
		return;
	if (is->mean >= is->target)
		is->window = 2 * is->window / (2 + INCREASE * is->window);
	else
		is->window *= DECREASE;
	is->window = fmin(fmax(is->window, 1), WINDOW_MAX);
}

uint32_t idle_sense_draw(const struct idle_sense *is, struct rng *rng)
{
	double whole = floor(is->window);
	uint32_t part = (is->window - whole) * 4294967296.0;

	return rng_below(rng, (uint32_t)whole + ((rng_next(rng) >> 32) < part));
}
