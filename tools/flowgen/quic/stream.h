/* SPDX-License-Identifier: GPL-2.0-only */
/* What both ends know of the stream of payload. */
#ifndef QUIC_STREAM_H
#define QUIC_STREAM_H

/*
 * Flow control: the most chunks from the first that is missing that may be under way. A receiver
 * reads at once, so how many it allows never changes, and nobody needs to say so (MAX_DATA).
 */
#define STREAM_WINDOW	8192

#endif
