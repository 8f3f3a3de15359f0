/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of --channel and --fec. */
#ifndef DCFMEDIUM_CHANNEL_OPTION_H
#define DCFMEDIUM_CHANNEL_OPTION_H

#include "core/channel.h"

/* Fill *@config, FEC aside; a wrong word or file ends the program. */
void parse_channel(const char *text, struct channel_config *config);

/* A signal to noise ratio in dB; @option names it in the message. */
double parse_snr(const char *option, const char *text);

/* "N,K": RS(N, K) over octets. */
void parse_fec(const char *text, struct channel_config *config);

#endif
