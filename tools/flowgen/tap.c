// SPDX-License-Identifier: GPL-2.0-only
/*
 * A packet socket without link layer headers (packet(7)), which a filter limits
 * to UDP over IPv4 that goes out: nothing else wakes this process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "pulse.h"
#include "tap.h"

#define PER_TURN	64		/* packets read before others' turn */
#define HEADERS		(sizeof(struct iphdr) + sizeof(struct udphdr))

static void tap_ready(struct loop *loop, struct activity *act, uint32_t events)
{
	/* Of one sender, as far as pulses are told apart: by their ids. */
	static const struct sockaddr_storage anyone;
	static char packet[HEADERS + PULSE_MAX];
	ssize_t got;
	int turn;

	(void)events;
	for (turn = 0; turn < PER_TURN; turn++) {
		got = recv(act->fd, packet, sizeof(packet), 0);
		if (got < 0) {
			if (errno != EAGAIN && errno != EINTR)
				die(errno, "cannot watch the device");
			return;
		}
		if ((size_t)got > HEADERS)
			pulse_arrived(loop, packet + HEADERS, got - HEADERS,
				      &anyone, sizeof(anyone), true);
	}
}

void tap_open(struct loop *loop, const char *device)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x45, 0, 2),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct iphdr, protocol)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, HEADERS + PULSE_MAX),
	};
	const struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]), .filter = code,
	};
	struct sockaddr_ll where = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(device),
	};
	int fd;

	if (!where.sll_ifindex)
		die(errno, "cannot watch device %s", device);
	/* Protocol 0: nothing comes before the filter is there. */
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ||
	    bind(fd, (const struct sockaddr *)&where, sizeof(where)))
		die(errno, "cannot watch device %s", device);
	loop_listen(loop, fd, tap_ready);
}
