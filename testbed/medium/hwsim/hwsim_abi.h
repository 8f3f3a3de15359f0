/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The part of mac80211_hwsim's netlink ABI that the medium speaks. The numbers
 * are those of drivers/net/wireless/mac80211_hwsim.h (virtual/ from 6.4 on),
 * which is not installed among the uapi headers.
 */
#ifndef DCFMEDIUM_HWSIM_ABI_H
#define DCFMEDIUM_HWSIM_ABI_H

#include <stdint.h>

#define HWSIM_FAMILY_NAME	"MAC80211_HWSIM"
#define HWSIM_VERSION		1

enum hwsim_command {
	HWSIM_CMD_REGISTER = 1,
	HWSIM_CMD_FRAME = 2,
	HWSIM_CMD_TX_INFO_FRAME = 3,
};

enum hwsim_attribute {
	HWSIM_ATTR_ADDR_RECEIVER = 1,
	HWSIM_ATTR_ADDR_TRANSMITTER = 2,
	HWSIM_ATTR_FRAME = 3,
	HWSIM_ATTR_FLAGS = 4,
	HWSIM_ATTR_RX_RATE = 5,
	HWSIM_ATTR_SIGNAL = 6,
	HWSIM_ATTR_TX_INFO = 7,
	HWSIM_ATTR_COOKIE = 8,
	HWSIM_ATTR_FREQ = 19,
	HWSIM_ATTR_TX_INFO_FLAGS = 21,
	HWSIM_ATTR_LAST = HWSIM_ATTR_TX_INFO_FLAGS,
};

/* HWSIM_ATTR_FLAGS */
#define HWSIM_TX_CTL_NO_ACK	(1U << 1)
#define HWSIM_TX_STAT_ACK	(1U << 2)

/* HWSIM_ATTR_TX_INFO is an array of exactly four of these. */
#define HWSIM_TX_RATES		4

struct hwsim_tx_rate {
	int8_t index;		/* in the band's rate table; -1 ends the list */
	uint8_t count;		/* attempts at this rate */
} __attribute__((packed));

/* HWSIM_ATTR_TX_INFO_FLAGS is an array of exactly four of these. */
struct hwsim_tx_rate_flag {
	int8_t index;
	uint16_t flags;
} __attribute__((packed));

#define HWSIM_RATE_MCS		(1U << 3)	/* the index is HT's */
#define HWSIM_RATE_40_MHZ	(1U << 5)
#define HWSIM_RATE_SHORT_GI	(1U << 7)
#define HWSIM_RATE_VHT_MCS	(1U << 8)	/* the index is VHT's */
#define HWSIM_RATE_80_MHZ	(1U << 9)
#define HWSIM_RATE_160_MHZ	(1U << 10)

/* hwsim frees frames on its own when this many wait for their TX status. */
#define HWSIM_QUEUE_LIMIT	200

/* The largest frame hwsim takes back, IEEE80211_MAX_DATA_LEN. */
#define HWSIM_FRAME_MAX		2352

/* A radio's hwsim address is that of its interface with this bit in byte 0. */
#define HWSIM_ADDRESS_BIT	0x40

#endif
