// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno with a congestion window of at most so many segments, for papers that
 * say a maximum window W* in packets. A receive window in bytes is no W*: below
 * twice the segment size Linux sends half segments, so as never to wait for a
 * delayed ACK (tcp_bound_to_half_wnd).
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int segments = 10;
module_param(segments, uint, 0444);
MODULE_PARM_DESC(segments, "Most segments in flight of each connection (W*)");

static void lab_window_init(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd_clamp = segments;
	tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), segments));
}

/* Reno's is at least 2, which a W* of 1 forbids. */
static u32 lab_window_ssthresh(struct sock *sk)
{
	return min(tcp_reno_ssthresh(sk), segments);
}

static u32 lab_window_undo(struct sock *sk)
{
	return min(tcp_reno_undo_cwnd(sk), segments);
}

/* Machines in namespaces choose it. */
static struct tcp_congestion_ops lab_window __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.init		= lab_window_init,
	.ssthresh	= lab_window_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= lab_window_undo,
	.owner		= THIS_MODULE,
	.name		= "lab_window",
};

static int __init lab_window_register(void)
{
	if (!segments)
		return -EINVAL;
	return tcp_register_congestion_control(&lab_window);
}
module_init(lab_window_register);

static void __exit lab_window_unregister(void)
{
	tcp_unregister_congestion_control(&lab_window);
}
module_exit(lab_window_unregister);

MODULE_DESCRIPTION("Reno with a bounded window, for the lab");
MODULE_LICENSE("GPL");
