/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which stations notice that a PPDU begins, and which begin too because they
 * cannot have noticed it yet.
 * Internal to the MAC core.
 */
#ifndef DCFMEDIUM_SENSING_H
#define DCFMEDIUM_SENSING_H

#include "state.h"

/* What station @i has announced begins; who has not sensed its radio yet does now. */
void sensing_begin_ppdu(struct mac *mac, int i);

/* The count of mac->lead is over. */
void sensing_begin_access(struct mac *mac);

#endif
