/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink messages on their way to mac80211_hwsim: several in a datagram, and
 * several datagrams in a system call, because each call takes long in a
 * User-mode Linux guest. No datagram is longer than a page, unless one message
 * alone is: netlink maps memory for those, page by page, and there that is a
 * system call of the host for each page.
 */
#ifndef DCFMEDIUM_OUTGOING_H
#define DCFMEDIUM_OUTGOING_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define OUTGOING_DATAGRAMS	32
#define OUTGOING_DATAGRAM_BYTES	3584
#define OUTGOING_BYTES		(OUTGOING_DATAGRAMS * OUTGOING_DATAGRAM_BYTES)

/* All zero is empty. */
struct outgoing {
	unsigned int n;		/* datagrams; the last one may still grow */
	size_t length;		/* bytes in all of them */
	struct mmsghdr datagrams[OUTGOING_DATAGRAMS];
	struct iovec iov[OUTGOING_DATAGRAMS];
	uint8_t bytes[OUTGOING_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/*
 * Where a message of at most @length bytes, up to OUTGOING_BYTES, can be written;
 * NULL if there is no room for it before what is there has been sent.
 */
void *outgoing_room(struct outgoing *out, size_t length);

/* The message written there has @length bytes, a multiple of NLMSG_ALIGNTO. */
void outgoing_add(struct outgoing *out, size_t length);

/* Send all to the socket @fd, in the order in which it came; false with errno if that fails. */
bool outgoing_send(struct outgoing *out, int fd);

#endif
