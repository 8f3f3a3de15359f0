// SPDX-License-Identifier: GPL-2.0-only
/* Netlink to and from mac80211_hwsim: see hwsim_link.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "hwsim_abi.h"
#include "hwsim_link.h"
#include "options.h"
#include "outgoing.h"

#define RECEIVE_SLOTS	16
#define RECEIVE_BYTES	8192
/* Headers and the fixed attributes of one message, generously. */
#define MESSAGE_OVERHEAD 128
#define SOCKET_BUFFER	(16 * 1024 * 1024)

/* Signal strength reported for whatever is heard. */
#define SIGNAL_DBM	(-30)

/* nlmsg_seq of what we send: the error replies bring it back. */
enum message_kind {
	MESSAGE_CHECKED = 1,
	MESSAGE_MAY_BE_REFUSED = 2,
};

struct hwsim_link {
	struct nl_sock *sock;
	int fd;
	int family;
	uint32_t port;
	struct integrity *integrity;
	struct mmsghdr slots[RECEIVE_SLOTS];
	struct iovec slot_iov[RECEIVE_SLOTS];
	uint8_t slot_bytes[RECEIVE_SLOTS][RECEIVE_BYTES]
		__attribute__((aligned(NLMSG_ALIGNTO)));
	struct outgoing out;
};

static void register_medium(struct hwsim_link *link)
{
	int err = genl_send_simple(link->sock, link->family, HWSIM_CMD_REGISTER,
				   HWSIM_VERSION, 0);

	if (err >= 0)
		err = nl_wait_for_ack(link->sock);
	if (err == -NLE_BUSY)
		fatal("mac80211_hwsim has a medium already; stop it first");
	if (err == -NLE_OPNOTSUPP)
		fatal("mac80211_hwsim was loaded with channels > 1; a medium needs channels=1");
	if (err == -NLE_PERM)
		fatal("not allowed to register with mac80211_hwsim; run as root");
	if (err < 0)
		fatal("cannot register with mac80211_hwsim: %s",
		      nl_geterror(err));
}

static void set_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		fatal("cannot set up the netlink socket: %s", strerror(errno));
}

struct hwsim_link *hwsim_open(struct integrity *integrity)
{
	struct hwsim_link *link = calloc(1, sizeof(*link));

	if (!link)
		fatal("out of memory");
	link->integrity = integrity;
	link->sock = nl_socket_alloc();
	if (!link->sock || genl_connect(link->sock))
		fatal("cannot open a generic netlink socket");
	link->family = genl_ctrl_resolve(link->sock, HWSIM_FAMILY_NAME);
	if (link->family < 0)
		fatal("no mac80211_hwsim here; modprobe mac80211_hwsim first");
	link->fd = nl_socket_get_fd(link->sock);
	link->port = nl_socket_get_local_port(link->sock);
	set_option(link->fd, SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER);
	set_option(link->fd, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BUFFER);
	/* An error reply need not bring the whole frame back. */
	set_option(link->fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
	register_medium(link);

	for (int i = 0; i < RECEIVE_SLOTS; i++) {
		link->slot_iov[i].iov_base = link->slot_bytes[i];
		link->slot_iov[i].iov_len = RECEIVE_BYTES;
		link->slots[i].msg_hdr.msg_iov = &link->slot_iov[i];
		link->slots[i].msg_hdr.msg_iovlen = 1;
	}
	return link;
}

void hwsim_close(struct hwsim_link *link)
{
	nl_socket_free(link->sock);
	free(link);
}

int hwsim_fd(const struct hwsim_link *link)
{
	return link->fd;
}

static void take_error(struct hwsim_link *link, struct nlmsghdr *nlh)
{
	const struct nlmsgerr *reply = nlmsg_data(nlh);

	if (nlmsg_datalen(nlh) < (int)sizeof(*reply)) {
		link->integrity->malformed++;
		return;
	}
	if (!reply->error || reply->msg.nlmsg_seq == MESSAGE_MAY_BE_REFUSED)
		return;
	if (reply->error == -ENOENT)
		fatal("mac80211_hwsim has gone; the radios have no medium any more");
	link->integrity->einval++;
}

/* A frame whose rates are missing, or not four, comes without any. */
static void take_rates(struct hwsim_rates *rates, struct nlattr *tries,
		       struct nlattr *flags)
{
	struct hwsim_tx_rate_flag flag[HWSIM_TX_RATES] = { 0 };

	memset(rates, 0, sizeof(*rates));
	for (int i = 0; i < HWSIM_TX_RATES; i++)
		rates->tries[i].index = -1;
	if (!tries || nla_len(tries) != sizeof(rates->tries))
		return;
	memcpy(rates->tries, nla_data(tries), sizeof(rates->tries));
	if (flags && nla_len(flags) == sizeof(flag))
		memcpy(flag, nla_data(flags), sizeof(flag));
	for (int i = 0; i < HWSIM_TX_RATES; i++)
		rates->flags[i] = flag[i].flags;
}

static void take_frame(struct hwsim_link *link, struct nlmsghdr *nlh,
		       hwsim_frame_handler handler, void *ctx)
{
	static struct nla_policy policy[HWSIM_ATTR_LAST + 1] = {
		[HWSIM_ATTR_ADDR_TRANSMITTER] = { .minlen = MAC_ADDR_LEN },
		[HWSIM_ATTR_FLAGS] = { .type = NLA_U32 },
		[HWSIM_ATTR_FREQ] = { .type = NLA_U32 },
		[HWSIM_ATTR_COOKIE] = { .type = NLA_U64 },
	};
	struct nlattr *attrs[HWSIM_ATTR_LAST + 1];
	struct hwsim_frame frame;

	if (genlmsg_parse(nlh, 0, attrs, HWSIM_ATTR_LAST, policy) ||
	    !attrs[HWSIM_ATTR_ADDR_TRANSMITTER] || !attrs[HWSIM_ATTR_FRAME] ||
	    !attrs[HWSIM_ATTR_FLAGS] || !attrs[HWSIM_ATTR_COOKIE]) {
		link->integrity->malformed++;
		return;
	}
	memcpy(frame.radio, nla_data(attrs[HWSIM_ATTR_ADDR_TRANSMITTER]),
	       MAC_ADDR_LEN);
	frame.cookie = nla_get_u64(attrs[HWSIM_ATTR_COOKIE]);
	frame.flags = nla_get_u32(attrs[HWSIM_ATTR_FLAGS]);
	frame.freq = attrs[HWSIM_ATTR_FREQ] ?
		     nla_get_u32(attrs[HWSIM_ATTR_FREQ]) : 0;
	take_rates(&frame.rates, attrs[HWSIM_ATTR_TX_INFO],
		   attrs[HWSIM_ATTR_TX_INFO_FLAGS]);
	frame.bytes = nla_data(attrs[HWSIM_ATTR_FRAME]);
	frame.length = nla_len(attrs[HWSIM_ATTR_FRAME]);
	handler(ctx, &frame);
}

static void take_datagram(struct hwsim_link *link, uint8_t *bytes, int length,
			  hwsim_frame_handler handler, void *ctx)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)bytes;

	for (; nlmsg_ok(nlh, length); nlh = nlmsg_next(nlh, &length)) {
		const struct genlmsghdr *genl = nlmsg_data(nlh);

		if (nlh->nlmsg_type == NLMSG_ERROR)
			take_error(link, nlh);
		else if (nlh->nlmsg_type == link->family &&
			 genlmsg_valid_hdr(nlh, 0) &&
			 genl->cmd == HWSIM_CMD_FRAME)
			take_frame(link, nlh, handler, ctx);
		/* Newer kernels also tell of addresses; the medium reads addr1. */
	}
}

void hwsim_receive(struct hwsim_link *link, hwsim_frame_handler handler,
		   void *ctx)
{
	int n = recvmmsg(link->fd, link->slots, RECEIVE_SLOTS, MSG_DONTWAIT,
			 NULL);

	if (n < 0 && errno == ENOBUFS) {
		link->integrity->overflow++;
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		fatal("lost the netlink socket: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		if (link->slots[i].msg_hdr.msg_flags & MSG_TRUNC)
			link->integrity->malformed++;
		else
			take_datagram(link, link->slot_bytes[i],
				      link->slots[i].msg_len, handler, ctx);
	}
}

static void put_attribute(struct nlmsghdr *nlh, int type, const void *data,
			  size_t length)
{
	uint8_t *end = (uint8_t *)nlh + nlh->nlmsg_len;
	struct nlattr nla = { .nla_len = NLA_HDRLEN + length, .nla_type = type };

	memset(end, 0, NLA_HDRLEN + NLA_ALIGN(length));
	memcpy(end, &nla, sizeof(nla));
	memcpy(end + NLA_HDRLEN, data, length);
	nlh->nlmsg_len += NLA_HDRLEN + NLA_ALIGN(length);
}

static void put_u32(struct nlmsghdr *nlh, int type, uint32_t value)
{
	put_attribute(nlh, type, &value, sizeof(value));
}

/* Begin a message that will carry at most @payload bytes of frame. */
static struct nlmsghdr *put_message(struct hwsim_link *link, int command,
				    enum message_kind kind, size_t payload)
{
	struct genlmsghdr genl = { .cmd = command, .version = HWSIM_VERSION };
	size_t most = payload + MESSAGE_OVERHEAD;
	struct nlmsghdr *nlh = outgoing_room(&link->out, most);

	if (!nlh) {
		hwsim_flush(link);
		nlh = outgoing_room(&link->out, most);
	}
	*nlh = (struct nlmsghdr){
		.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
		.nlmsg_type = link->family,
		.nlmsg_flags = NLM_F_REQUEST,
		.nlmsg_seq = kind,
		.nlmsg_pid = link->port,
	};
	memcpy(NLMSG_DATA(nlh), &genl, sizeof(genl));
	return nlh;
}

static void end_message(struct hwsim_link *link, const struct nlmsghdr *nlh)
{
	outgoing_add(&link->out, NLMSG_ALIGN(nlh->nlmsg_len));
}

/* hwsim takes four, and the first one counts. */
static void put_mcs(struct nlmsghdr *nlh, const struct hwsim_tx_rate_flag *mcs)
{
	const struct hwsim_tx_rate_flag rates[HWSIM_TX_RATES] = {
		*mcs, { -1, 0 }, { -1, 0 }, { -1, 0 },
	};

	put_attribute(nlh, HWSIM_ATTR_TX_INFO_FLAGS, rates, sizeof(rates));
}

void hwsim_deliver(struct hwsim_link *link, const uint8_t *to,
		   const struct hwsim_frame *frame,
		   const struct hwsim_sent_at *rate, bool may_refuse)
{
	struct nlmsghdr *nlh = put_message(link, HWSIM_CMD_FRAME,
					   may_refuse ? MESSAGE_MAY_BE_REFUSED
						      : MESSAGE_CHECKED,
					   frame->length);

	put_attribute(nlh, HWSIM_ATTR_ADDR_RECEIVER, to, MAC_ADDR_LEN);
	put_attribute(nlh, HWSIM_ATTR_FRAME, frame->bytes, frame->length);
	put_u32(nlh, HWSIM_ATTR_RX_RATE, rate->index);
	put_u32(nlh, HWSIM_ATTR_SIGNAL, (uint32_t)SIGNAL_DBM);
	if (frame->freq)
		put_u32(nlh, HWSIM_ATTR_FREQ, frame->freq);
	if (rate->has_mcs)
		put_mcs(nlh, &rate->mcs);
	end_message(link, nlh);
}

void hwsim_report(struct hwsim_link *link, const struct hwsim_status *status)
{
	struct nlmsghdr *nlh = put_message(link, HWSIM_CMD_TX_INFO_FRAME,
					   MESSAGE_CHECKED, 0);

	put_attribute(nlh, HWSIM_ATTR_ADDR_TRANSMITTER, status->radio,
		      MAC_ADDR_LEN);
	put_u32(nlh, HWSIM_ATTR_FLAGS,
		status->flags | (status->acked ? HWSIM_TX_STAT_ACK : 0));
	put_attribute(nlh, HWSIM_ATTR_COOKIE, &status->cookie,
		      sizeof(status->cookie));
	put_u32(nlh, HWSIM_ATTR_SIGNAL, (uint32_t)SIGNAL_DBM);
	put_attribute(nlh, HWSIM_ATTR_TX_INFO, status->done,
		      sizeof(status->done));
	if (status->has_mcs)
		put_mcs(nlh, &status->mcs);
	end_message(link, nlh);
}

void hwsim_flush(struct hwsim_link *link)
{
	if (!outgoing_send(&link->out, link->fd))
		fatal("lost the netlink socket: %s", strerror(errno));
}
