/* SPDX-License-Identifier: GPL-2.0-only */
/* What lasack-doctor has to say of a device, one thing each. */
#ifndef LASACK_DOCTOR_FINDING_H
#define LASACK_DOCTOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>

enum state {
	STATE_OK,
	STATE_NOTE,			/* good to know, and no fault */
	STATE_UNKNOWN,			/* cannot be told now, or needs root */
	STATE_PROBLEM,
};

struct finding {
	const char *about;		/* "driver"; the name in JSON too */
	enum state state;
	char *said;			/* one or more sentences */
	char *type;			/* commands, one a line; NULL: none */
};

struct findings {
	struct finding *all;
	size_t count;
};

/* The word for a state, as printed. */
const char *state_word(enum state state);

/* The program ends if there is no memory. */
void find(struct findings *findings, const char *about, enum state state,
	  const char *said, ...) __attribute__((format(printf, 4, 5)));

/* Adds a line to what the last finding says to type. */
void find_type(struct findings *findings, const char *command, ...)
	__attribute__((format(printf, 2, 3)));

bool findings_have(const struct findings *findings, enum state state);
void findings_clear(struct findings *findings);

#endif
