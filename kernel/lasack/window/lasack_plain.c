// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether an ACK says only how much it acknowledges.
 *
 * Principle: what an ACK says is in its flags and its options. If there is no flag but ACK and PSH,
 * and no option but timestamps, the next ACK of its kind says all of it again. What is not known is
 * taken to say more. So do SACK and D-SACK (RFC 2018, RFC 2883), ECE (RFC 3168), AccECN's counts
 * (RFC 9768) and a signature (RFC 5925).
 *
 * Source: the ACK filter of cake. T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE",
 * LANMAN 2018.
 */
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "common/tcp_segment.h"
#include "lasack/window/lasack_echo.h"
#include "lasack/window/lasack_plain.h"

/* Flags in its header, but PSH, and the bits before them: AccECN counts with one (RFC 9768). */
#define LASACK_ACK_FLAGS	cpu_to_be32(0x0ff70000)

/**
 * lasack_plain_ack() - look for what an ACK says beside how much it acknowledges
 * @skb: the packet
 * @seg: what it is: a pure ACK
 *
 * Return: whether it has no D-SACK, no ECE, and none of AccECN's counts. Then an ACK of the same
 * kind behind it says all that it says.
 */
bool lasack_plain_ack(const struct sk_buff *skb, const struct tcp_segment *seg)
{
	const struct tcphdr *th;
	const __be32 *option;
	struct tcphdr _th;
	__be32 _option;

	th = skb_header_pointer(skb, seg->transport, sizeof(_th), &_th);
	if (!th || (tcp_flag_word(th) & LASACK_ACK_FLAGS) != TCP_FLAG_ACK)
		return false;
	if (th->doff == sizeof(*th) / 4)
		return true;
	option = skb_header_pointer(skb, seg->transport + sizeof(*th), sizeof(_option), &_option);
	return option && th->doff == (sizeof(*th) + TCPOLEN_TSTAMP_ALIGNED) / 4 &&
	       *option == htonl(LASACK_TIMESTAMPS);
}
