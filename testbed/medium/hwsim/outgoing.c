// SPDX-License-Identifier: GPL-2.0-only
/* Messages gathered into datagrams: see outgoing.h. */
#define _GNU_SOURCE
#include "outgoing.h"

void *outgoing_room(struct outgoing *out, size_t length)
{
	bool fits = out->n && out->iov[out->n - 1].iov_len + length <=
			      OUTGOING_DATAGRAM_BYTES;

	if (out->length + length > OUTGOING_BYTES ||
	    (!fits && out->n == OUTGOING_DATAGRAMS))
		return NULL;
	if (!fits) {
		struct iovec *next = &out->iov[out->n];

		*next = (struct iovec){ .iov_base = out->bytes + out->length };
		out->datagrams[out->n++].msg_hdr = (struct msghdr){
			.msg_iov = next, .msg_iovlen = 1,
		};
	}
	return out->bytes + out->length;
}

void outgoing_add(struct outgoing *out, size_t length)
{
	out->iov[out->n - 1].iov_len += length;
	out->length += length;
}

bool outgoing_send(struct outgoing *out, int fd)
{
	int n = out->n;

	out->n = 0;
	out->length = 0;
	return !n || sendmmsg(fd, out->datagrams, n, 0) == n;
}
