/* SPDX-License-Identifier: GPL-2.0-only */
/* What both ends know of the stream of payload. */
#ifndef QUIC_STREAM_H
#define QUIC_STREAM_H

/*
 * Flow control: how many chunks from the first that is missing may be under way. The receiver
 * never asks for less, because it reads at once; so nobody needs to say so (MAX_STREAM_DATA).
 */
#define STREAM_WINDOW	8192

#endif
