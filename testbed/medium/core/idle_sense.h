/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access methods in which the contention window does not depend on a station's
 * own collisions. Idle Sense: every station counts the idle slots between the
 * transmissions it hears. It adjusts its window so that their mean reaches a
 * target. The same target is best for any number of stations. AAP: the access
 * point has a constant window that gives it twice as many accesses as all the
 * Idle Sense stations together.
 *
 * Source: M. Heusse, F. Rousseau, R. Guillier and A. Duda, "Idle Sense: An
 * Optimal Access Method for High Throughput and Fairness in Rate Diverse
 * Wireless LANs", ACM SIGCOMM 2005; layer2-layer3 and its [2], the Asymmetric
 * Access Point.
 */
#ifndef DCFMEDIUM_IDLE_SENSE_H
#define DCFMEDIUM_IDLE_SENSE_H

#include "rng.h"

enum mac_access {
	MAC_DCF,
	MAC_IDLE_SENSE,
	MAC_AAP,	/* the access point among Idle Sense stations */
};

struct idle_sense {
	double window;		/* its mean number of values */
	double target;		/* idle slots between transmissions */
	double mean;		/* of those heard, a running one */
	unsigned int heard;	/* transmissions */
};

/*
 * The mean number of idle slots between transmissions at which throughput is
 * highest: with attempts per slot Poisson of mean x, 1 - x = (1 - 1/C) exp(-x),
 * C = @collision_slots the length of a collision and its EIFS or DIFS in slots,
 * and exp(-x) / (1 - exp(-x)) idle slots.
 */
double idle_sense_target(double collision_slots);

/*
 * The access point's constant window W for @target idle slots. A count that
 * waits is uniform over 1 .. W - 1 and ends at each slot with probability 2 / W;
 * with probability 1 / W the next one is 0, and the next frame follows straight
 * after DIFS, when nobody else can send. With the stations' attempts per slot
 * Poisson of mean x, the access point has two thirds of the successes if
 *	(2 / W) / (1 - 2 / W) * W / (W - 1) = 2 x
 * and a transmission follows the one before after at least one slot, but for
 * those straight after DIFS, which are (2 / 3) / W of all:
 *	(1 - (2 / 3) / W) / (1 - (1 - 2 / W) exp(-x)) idle slots after a success.
 * After a collision, in which the access point nearly always has part, its new
 * count begins @head_start slots before observers count (802.11-2012, 9.3.2.8).
 * W is the one for which the mean over both comes to the target.
 */
double aap_window(double target, double head_start);

/* Begin with @window values. */
void idle_sense_start(struct idle_sense *is, double window, double target);

/*
 * A transmission was heard after @idle_slots; adapts the window now and then. A gap longer than
 * the window is passed over: a cell with pauses would else be taken for one without contention.
 */
void idle_sense_hear(struct idle_sense *is, double idle_slots);

/* A count uniform over the window; one between whole numbers by chance. */
uint32_t idle_sense_draw(const struct idle_sense *is, struct rng *rng);

#endif
