// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_ackskip: the sysctls of the ACK-skip series in patches/ on a kernel that
 * does not have it and cannot be rebuilt.
 *
 * Principle: two functions of the kernel decide whether an ACK is sent at once:
 * one when a segment has arrived, one when the program has read. ftrace calls us
 * when these functions begin (Documentation/trace/ftrace-uses.rst), as it calls
 * live patches. If the rule lets the ACK wait, they return to their caller at
 * once. Otherwise they run as always. We call only exported functions, and
 * replace none.
 *
 * TCP itself withholds ACKs at times ("compresses" them), with a count and a
 * timer in the socket (tcp_comp_sack_delay_ns). We add our withheld ACKs to that
 * count. So the kernel sends them, counts them (TCPAckCompressed), and stops the
 * timer when the socket closes. Nothing is left when the module is unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/dst.h>
#include <net/mptcp.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "ackskip/ackskip_rule.h"
#include "ackskip/ackskip_table.h"

static struct ackskip_table *ackskip_table;
static unsigned int ackskip_net_id;

struct ackskip_net {
	struct ackskip_config	config;
	struct ctl_table	*ctl_table;
	struct ctl_table_header	*header;
};

static const struct ackskip_config *ackskip_config(const struct sock *sk)
{
	const struct ackskip_net *an = net_generic(sock_net(sk), ackskip_net_id);

	return &an->config;
}

/* In place of __tcp_ack_snd_check(): the kernel would have sent an ACK. It is
 * held for half a round trip, before a tail loss probe (RFC 8985, 7.2).
 */
static void ackskip_withhold(struct sock *sk, int ofo_possible)
{
	u32 stock = ackskip_unacked(sk) / (ACKSKIP_STOCK * ackskip_mss(sk));
	struct tcp_sock *tp = tcp_sk(sk);
	u64 delay_ns;

	tp->compressed_ack = clamp_t(u32, stock, max_t(u32, tp->compressed_ack, 1), U8_MAX);
	if (hrtimer_is_queued(&tp->compressed_ack_timer))
		return;
	delay_ns = (u64)(tp->rcv_rtt_est.rtt_us >> 4) * NSEC_PER_USEC;
	delay_ns = min_t(u64, delay_ns, jiffies_to_nsecs(TCP_DELACK_MIN));
	sock_hold(sk);
	hrtimer_start_range_ns(&tp->compressed_ack_timer, ns_to_ktime(delay_ns),
			       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_comp_sack_slack_ns),
			       HRTIMER_MODE_REL_PINNED_SOFT);
}

/* In place of __tcp_cleanup_rbuf(): nothing is to be told. */
static void ackskip_keep_silent(struct sock *sk, int copied)
{
}

/* What stock TCP sends at once, however little has arrived. */
static bool ackskip_ack_now(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);

	return (inet_csk(sk)->icsk_ack.pending & ICSK_ACK_NOW) ||
	       (dst && dst_metric(dst, RTAX_QUICKACK));
}

/* May the reader's news be a window twice as large? Never false if
 * __tcp_cleanup_rbuf() would find so: __tcp_select_window() is at most @most.
 */
static bool ackskip_window_opens(const struct sock *sk, int copied)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 now = tcp_receive_window(tp);
	int most;

	if (copied <= 0 || (sk->sk_shutdown & RCV_SHUTDOWN) || 2 * now > tp->window_clamp)
		return false;
	if (sk_is_mptcp(sk))	/* its buffer is not this socket's */
		return true;
	most = min_t(int, tcp_space(sk), tp->rcv_ssthresh);
	return most > 0 && ALIGN(most, 1 << tp->rx_opt.rcv_wscale) >= 2 * now;
}

/* __tcp_ack_snd_check(sk, ofo_possible) begins. */
static bool ackskip_on_segment(struct sock *sk)
{
	const struct ackskip_config *config = ackskip_config(sk);
	u32 segs;

	if (ackskip_off(config))
		return false;
	segs = ackskip_segs_arriving(ackskip_table, config, sk);
	if (segs < ACKSKIP_STOCK && ackskip_unacked(sk))
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	return segs > ACKSKIP_STOCK && ackskip_due(sk, ACKSKIP_STOCK) &&
	       !ackskip_due(sk, segs) && !ackskip_ack_now(sk);
}

/* __tcp_cleanup_rbuf(sk, copied) begins. That a bulk sender pushes each of its
 * writes is no reason for an ACK where some may be skipped. One byte is what
 * TCP_QUICKACK says it has read, to have an ACK; MPTCP says so always.
 */
static bool ackskip_on_read(struct sock *sk, int copied)
{
	u32 segs;

	if (ackskip_off(ackskip_config(sk)) || (copied == 1 && !sk_is_mptcp(sk)))
		return false;
	segs = ackskip_segs(ackskip_table, sk);
	return segs > ACKSKIP_STOCK && !ackskip_due(sk, segs) && !ackskip_ack_now(sk) &&
	       !ackskip_window_opens(sk, copied);
}

/* tcp_send_ack(sk) begins. Not all kernels' timer for compressed ACKs asks for
 * the time, and an ACK with that of the last segment makes the round trip, which
 * its echo tells, too long by as much as it was held. As tcp_mstamp_refresh().
 */
static void ackskip_on_ack(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (ackskip_off(ackskip_config(sk)))
		return;
	tp->tcp_clock_cache = tcp_clock_ns();
	tp->tcp_mstamp = div_u64(tp->tcp_clock_cache, NSEC_PER_USEC);
}

static void notrace ackskip_segment_hook(unsigned long ip, unsigned long parent_ip,
					 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	if (ackskip_on_segment((struct sock *)ftrace_regs_get_argument(fregs, 0)))
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)ackskip_withhold);
	ftrace_test_recursion_unlock(bit);
}

static void notrace ackskip_read_hook(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	if (ackskip_on_read((struct sock *)ftrace_regs_get_argument(fregs, 0),
			    (int)ftrace_regs_get_argument(fregs, 1)))
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)ackskip_keep_silent);
	ftrace_test_recursion_unlock(bit);
}

static void notrace ackskip_ack_hook(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	ackskip_on_ack((struct sock *)ftrace_regs_get_argument(fregs, 0));
	ftrace_test_recursion_unlock(bit);
}

/* PERMANENT: kernel.ftrace_enabled cannot turn us off while the sysctls say on. */
#define ACKSKIP_HOOK(hook, modify) {				\
	.func	= (hook),					\
	.flags	= FTRACE_OPS_FL_PERMANENT | (modify),		\
}

#ifndef ACKSKIP_READ_FUNCTION	/* a test names another */
#define ACKSKIP_READ_FUNCTION	"__tcp_cleanup_rbuf"
#endif

static struct ackskip_hook {
	char			*name;
	struct ftrace_ops	ops;
} ackskip_hooks[] = {
	{ "__tcp_ack_snd_check", ACKSKIP_HOOK(ackskip_segment_hook, FTRACE_OPS_FL_IPMODIFY) },
	{ ACKSKIP_READ_FUNCTION, ACKSKIP_HOOK(ackskip_read_hook, FTRACE_OPS_FL_IPMODIFY) },
	{ "tcp_send_ack", ACKSKIP_HOOK(ackskip_ack_hook, 0) },
};

static void ackskip_unhook(int hooks)
{
	while (hooks--) {
		unregister_ftrace_function(&ackskip_hooks[hooks].ops);
		ftrace_free_filter(&ackskip_hooks[hooks].ops);
	}
	/* No hook runs any more, but what one led to may: in a task that was
	 * preempted there, or in a softirq.
	 */
	synchronize_rcu_tasks();
	synchronize_rcu();
}

static int ackskip_hook(struct ackskip_hook *hook)
{
	int err = ftrace_set_filter(&hook->ops, hook->name, strlen(hook->name), 1);

	if (err) {
		pr_err("this kernel has no %s() that ftrace can hook\n", hook->name);
		return err == -EINVAL ? -EOPNOTSUPP : err;
	}
	err = register_ftrace_function(&hook->ops);
	if (!err)
		return 0;
	if (err == -EBUSY)
		pr_err("%s() belongs to a live patch or another module, or kernel.ftrace_enabled is 0\n",
		       hook->name);
	else
		pr_err("%s() cannot be hooked: error %d\n", hook->name, err);
	ftrace_free_filter(&hook->ops);
	return err;
}

static int ackskip_hook_all(void)
{
	for (int i = 0; i < ARRAY_SIZE(ackskip_hooks); i++) {
		int err = ackskip_hook(&ackskip_hooks[i]);

		if (err) {
			ackskip_unhook(i);
			return err;
		}
	}
	return 0;
}

static int ackskip_every_max = ACKSKIP_EVERY_MAX;
static int ackskip_skip_max = ACKSKIP_SKIP_MAX;
static int ackskip_after_max = ACKSKIP_AFTER_MAX;

static const struct ctl_table ackskip_ctl_table[] = {
	{
		.procname	= "tcp_ack_every",
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= proc_dou8vec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &ackskip_every_max,
	},
	{
		.procname	= "tcp_ack_skip",
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= proc_dou8vec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &ackskip_skip_max,
	},
	{
		.procname	= "tcp_ack_skip_after",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &ackskip_after_max,
	},
	{
		.procname	= "tcp_ack_skip_ramp",
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= proc_dou8vec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{ }
};

static int __net_init ackskip_net_init(struct net *net)
{
	struct ackskip_net *an = net_generic(net, ackskip_net_id);
	void *data[] = {
		&an->config.every, &an->config.skip, &an->config.after, &an->config.ramp,
	};

	an->config.every = ACKSKIP_STOCK;
	an->config.after = ACKSKIP_AFTER;
	an->ctl_table = kmemdup(ackskip_ctl_table, sizeof(ackskip_ctl_table), GFP_KERNEL);
	if (!an->ctl_table)
		return -ENOMEM;
	for (int i = 0; i < ARRAY_SIZE(data); i++)
		an->ctl_table[i].data = data[i];
	an->header = register_net_sysctl_sz(net, "net/ipv4", an->ctl_table, ARRAY_SIZE(data));
	if (an->header)
		return 0;
	kfree(an->ctl_table);
	pr_err("net.ipv4.tcp_ack_skip is there already, or there is no memory: this kernel may have it built in\n");
	return -EEXIST;
}

static void __net_exit ackskip_net_exit(struct net *net)
{
	struct ackskip_net *an = net_generic(net, ackskip_net_id);

	unregister_net_sysctl_table(an->header);
	kfree(an->ctl_table);
}

static struct pernet_operations ackskip_net_ops = {
	.init	= ackskip_net_init,
	.exit	= ackskip_net_exit,
	.id	= &ackskip_net_id,
	.size	= sizeof(struct ackskip_net),
};

static int __init ackskip_init(void)
{
	int err;

	ackskip_table = ackskip_table_create();
	if (!ackskip_table)
		return -ENOMEM;
	err = register_pernet_subsys(&ackskip_net_ops);
	if (err)
		goto destroy;
	err = ackskip_hook_all();
	if (err)
		goto unregister;
	return 0;

unregister:
	unregister_pernet_subsys(&ackskip_net_ops);
destroy:
	ackskip_table_destroy(ackskip_table);
	return err;
}

static void __exit ackskip_exit(void)
{
	ackskip_unhook(ARRAY_SIZE(ackskip_hooks));
	unregister_pernet_subsys(&ackskip_net_ops);
	ackskip_table_destroy(ackskip_table);
}

module_init(ackskip_init)
module_exit(ackskip_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("net.ipv4.tcp_ack_skip on a kernel without it");
