// SPDX-License-Identifier: GPL-2.0-only
/* The PPDUs that are in the air, and which stations hear them: see air.h. */
#include <string.h>

#include "air.h"

void air_announce(struct mac *mac, int from, const struct mac_ppdu *ppdu)
{
	mac->stations[from].ppdu = *ppdu;
	mac->air[mac->n_air++] = from;
}

/* @a and @b overlap. */
static void overlap(struct mac *mac, int a, int b)
{
	set_add(&mac->stations[a].ppdu.with, b);
	set_add(&mac->stations[b].ppdu.with, a);
}

void air_begin(struct mac *mac, int from)
{
	struct mac_ppdu *ppdu = &mac->stations[from].ppdu;

	ppdu->begun = true;
	for (int i = 0; i < mac->n_air; i++) {
		const struct mac_ppdu *other = &mac->stations[mac->air[i]].ppdu;

		/* What begins within this one is known already, if it is due. */
		if (mac->air[i] != from &&
		    (other->begun || other->start < ppdu->end))
			overlap(mac, from, mac->air[i]);
	}
	set_add(&mac->loud, from);
}

void air_end(struct mac *mac, int from)
{
	int i = 0;

	while (mac->air[i] != from)
		i++;
	mac->air[i] = mac->air[--mac->n_air];
	set_remove(&mac->loud, from);
}

int air_next(const struct mac *mac, ns_t *when)
{
	int next = MAC_NOBODY;
	bool ends = false;

	*when = NS_NEVER;
	for (int i = 0; i < mac->n_air; i++) {
		const struct mac_ppdu *ppdu = &mac->stations[mac->air[i]].ppdu;
		ns_t t = ppdu->begun ? ppdu->end : ppdu->start;

		/* What ends when another begins does not overlap it. */
		if (t < *when || (t == *when && ppdu->begun && !ends)) {
			*when = t;
			next = mac->air[i];
			ends = ppdu->begun;
		}
	}
	return next;
}

ns_t air_heard_until(const struct mac *mac, int station)
{
	ns_t until = 0;

	for (int i = 0; i < mac->n_air; i++) {
		const struct mac_ppdu *ppdu = &mac->stations[mac->air[i]].ppdu;

		if (air_hears(mac, station, mac->air[i]) && ppdu->end > until)
			until = ppdu->end;
	}
	return until;
}

/* Of all that @to hears of what overlaps the PPDU of @from. */
static double interference(const struct mac *mac, int to, int from)
{
	const struct mac_set *with = &mac->stations[from].ppdu.with;
	double level = 0;

	for (int i = 0; i < mac->n_stations; i++)
		if (set_has(with, i) && air_hears(mac, to, i))
			level += mac->stations[i].level;
	return level;
}

bool air_spoilt(const struct mac *mac, int to, int from)
{
	const struct mac_set *with = &mac->stations[from].ppdu.with;

	if (!sets_meet(with, &mac->stations[to].hears))
		return false;
	/* Who sends meanwhile hears nothing, however strong. */
	if (!mac->config.capture || set_has(with, to))
		return true;
	return mac->stations[from].level <
	       mac->capture * interference(mac, to, from);
}

bool air_spoilt_for_all(const struct mac *mac, int from)
{
	bool spoilt = false;

	if (set_empty(&mac->stations[from].ppdu.with))
		return false;
	for (int i = 0; i < mac->n_stations; i++) {
		if (i == from || !air_hears(mac, i, from))
			continue;
		if (!air_spoilt(mac, i, from))
			return false;
		spoilt = true;
	}
	return spoilt;
}

bool air_same_radio(const struct mac *mac, int a, int b)
{
	unsigned int radio = mac->stations[a].config.radio;

	return a == b || (radio && radio == mac->stations[b].config.radio);
}

static bool named(const struct mac *mac, int station, const char *name)
{
	return !strcmp(mac->stations[station].config.name, name);
}

void air_part(struct mac *mac, int a, int b)
{
	for (int i = 0; i < mac->n_stations; i++)
		for (int j = 0; air_same_radio(mac, a, i) && j < mac->n_stations; j++)
			if (air_same_radio(mac, b, j)) {
				set_add(&mac->hidden[i], j);
				set_add(&mac->hidden[j], i);
			}
	mac->rewire = true;
}

void air_hide(struct mac *mac, int station)
{
	for (unsigned int i = 0; i < mac->config.n_hidden; i++) {
		const struct mac_hidden_pair *pair = &mac->config.hidden[i];

		for (int j = 0; j < mac->n_stations; j++)
			if ((named(mac, station, pair->name[0]) &&
			     named(mac, j, pair->name[1])) ||
			    (named(mac, station, pair->name[1]) &&
			     named(mac, j, pair->name[0])))
				air_part(mac, station, j);
	}
	/* What its radio's other categories do not hear. */
	for (int i = 0; i < station; i++)
		for (int j = 0; air_same_radio(mac, i, station) && j < station; j++)
			if (set_has(&mac->hidden[i], j))
				air_part(mac, station, j);
}

static bool in_hearing(const struct mac *mac, int a, int b)
{
	return air_same_radio(mac, a, b) ||
	       (mac->stations[a].config.freq == mac->stations[b].config.freq &&
		!set_has(&mac->hidden[a], b));
}

void air_wire(struct mac *mac, int i)
{
	for (int j = 0; j < mac->n_stations; j++) {
		if (!in_hearing(mac, i, j))
			continue;
		set_add(&mac->stations[i].hears, j);
		set_add(&mac->stations[j].hears, i);
	}
}

void air_rewire(struct mac *mac)
{
	mac->rewire = false;
	for (int i = 0; i < mac->n_stations; i++)
		mac->stations[i].hears = (struct mac_set){ 0 };
	for (int i = 0; i < mac->n_stations; i++)
		air_wire(mac, i);
}
