// SPDX-License-Identifier: GPL-2.0-only
/* See flowtables.h. */
#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "die.h"
#include "flowtables.h"

static int take_flowtable(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[NFTA_FLOWTABLE_MAX + 1] = {
		[NFTA_FLOWTABLE_TABLE] = { .type = NLA_STRING },
		[NFTA_FLOWTABLE_NAME] = { .type = NLA_STRING },
		[NFTA_FLOWTABLE_FLAGS] = { .type = NLA_U32 },
	};
	struct nlattr *tb[NFTA_FLOWTABLE_MAX + 1];
	struct flowtable *flowtable;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(struct nfgenmsg), tb, NFTA_FLOWTABLE_MAX,
			policy) < 0 ||
	    !tb[NFTA_FLOWTABLE_TABLE] || !tb[NFTA_FLOWTABLE_NAME])
		return NL_OK;
	flowtable = machine_add_flowtable(arg);
	nla_strlcpy(flowtable->table, tb[NFTA_FLOWTABLE_TABLE], sizeof(flowtable->table));
	nla_strlcpy(flowtable->name, tb[NFTA_FLOWTABLE_NAME], sizeof(flowtable->name));
	if (tb[NFTA_FLOWTABLE_FLAGS])
		flowtable->hardware = ntohl(nla_get_u32(tb[NFTA_FLOWTABLE_FLAGS])) &
				      NFT_FLOWTABLE_HW_OFFLOAD;
	return NL_OK;
}

void flowtables_read(struct machine *machine)
{
	struct nfgenmsg header = { .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0 };
	struct nl_sock *sock = nl_socket_alloc();
	int err;

	if (!sock)
		die("out of memory");
	/* Without nfnetlink there is nothing to connect to. */
	if (nl_connect(sock, NETLINK_NETFILTER) >= 0) {
		nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_flowtable, machine);
		err = nl_send_simple(sock, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETFLOWTABLE,
				     NLM_F_DUMP, &header, sizeof(header));
		if (err >= 0)
			err = nl_recvmsgs_default(sock);
		machine->flowtables_need_root = err == -NLE_PERM;
	}
	nl_socket_free(sock);
}
