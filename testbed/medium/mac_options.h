/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that configure the MAC and the channel, alike in all commands. */
#ifndef DCFMEDIUM_MAC_OPTIONS_H
#define DCFMEDIUM_MAC_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

#include "core/mac.h"

/* Entries of getopt_long()'s table; the values are letters of their own. */
#define MAC_OPTIONS						\
	{ "phy", required_argument, NULL, 'p' },		\
	{ "rts", required_argument, NULL, 'r' },		\
	{ "eifs", required_argument, NULL, 'e' },		\
	{ "ampdu", required_argument, NULL, 'u' },		\
	{ "ppdu", required_argument, NULL, 't' },		\
	{ "idle-target", required_argument, NULL, 'i' },	\
	{ "channel", required_argument, NULL, 'l' },		\
	{ "fec", required_argument, NULL, 'f' },		\
	{ "hidden", required_argument, NULL, 'H' },		\
	{ "link", required_argument, NULL, 'K' },		\
	{ "capture", required_argument, NULL, 'C' },		\
	{ "seed", required_argument, NULL, 'k' }

#define MAC_OPTIONS_HELP						\
"  --phy PROFILE     see `dcfmedium --help`\n"				\
"  --rts BYTES       RTS/CTS before PSDUs longer than BYTES (default: never)\n" \
"  --eifs on|off     stations that hear a collision wait EIFS (on, the default)\n" \
"                    or DIFS (off)\n"					\
"  --ampdu N         most MPDUs in an A-MPDU, 1 to 64 (ht20, vht80; default 64)\n" \
"  --ppdu US         longest A-MPDU in us (default 5484)\n"		\
"  --idle-target N   idle slots that Idle Sense aims at (default: the best for\n" \
"                    1500-byte payloads)\n"				\
"  --channel WORDS   ideal (default)\n"					\
"                    loss=P            each frame is lost with probability P\n" \
"                    ber=B             bit errors, independent\n"		\
"                    ge,good=S,bad=S,ber-good=B,ber-bad=B[,shared]\n"	\
"                                      Gilbert-Elliott: mean durations in s. Each\n" \
"                                      link has its own state; shared: one for all\n" \
"                    snr=DB[,fading=DB]\n"				\
"                                      bit errors by modulation and SNR; field\n" \
"                                      snr of --station: of one station. Fading is\n" \
"                                      the standard deviation of each frame's SNR\n" \
"                    trace=FILE        lines \"SECONDS BER\": bit error rate from\n" \
"                                      then on\n"			\
"  --fec N,K         Reed-Solomon (N,K) over bytes while a ge link is bad\n" \
"  --hidden A:B      stations, by name, that do not hear each other; may be\n" \
"                    repeated\n"						\
"  --link A:B,snr=DB what frames from A to B meet, instead of --channel snr=DB;\n" \
"                    A:B,loss=P instead of --channel loss=P; may be repeated.\n" \
"                    From B to A needs a --link of its own\n"		\
"  --capture DB      a frame survives if it is at least DB stronger than all that\n" \
"                    overlaps it (default: no frame survives an overlap). Field\n" \
"                    signal of --station is a station's level (default 0)\n" \
"  --seed K          seed of the random numbers (default 1)\n"

/* Of MAC_OPTIONS, those that were given, in order. */
struct mac_words {
	struct mac_word {
		int option;
		const char *value;
	} *word;
	int n;
};

/* Note @option, one of MAC_OPTIONS, with optarg as its value. */
void keep_mac_option(struct mac_words *words, int option);

/* "phy" for 'p' and so on; and the other way round, 0 if there is none. */
const char *mac_option_name(int option);
int mac_option_named(const char *name);

/* Take one of MAC_OPTIONS; false if @option is none. A wrong value ends here. */
bool take_mac_option(struct mac_config *config, int option);

/* What only shows when all options are known; ends with one line if wrong. */
void check_mac_options(const struct mac_config *config);

/* "dcf", "idle-sense" or "aap"; @option names it in the message. */
const char *access_name(enum mac_access access);
enum mac_access parse_access(const char *option, const char *text);

#endif
