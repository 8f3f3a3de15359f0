// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tcp_ackskip may find on a kernel it is loaded into, to see it refuse:
 *
 *	function=NAME	NAME is replaced already, as by a live patch; it works on
 *	sysctl=1	net.ipv4.tcp_ack_skip is there, as with the series
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

static char *function;
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "a function to hook as a live patch does");

static bool sysctl;
module_param(sysctl, bool, 0444);
MODULE_PARM_DESC(sysctl, "have net.ipv4.tcp_ack_skip");

static struct ctl_table_header *header;
static int number;

static struct ctl_table table[] = {
	{
		.procname	= "tcp_ack_skip",
		.data		= &number,
		.maxlen		= sizeof(number),
		.mode		= 0444,
		.proc_handler	= proc_dointvec,
	},
	{ }
};

static void notrace leave_alone(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops ops = {
	.func	= leave_alone,
	.flags	= FTRACE_OPS_FL_IPMODIFY,
};

static int __init ackskip_rival_init(void)
{
	int err = 0;

	if (sysctl) {
		header = register_net_sysctl_sz(&init_net, "net/ipv4", table, 1);
		return header ? 0 : -ENOMEM;
	}
	if (function)
		err = ftrace_set_filter(&ops, function, strlen(function), 1);
	return err ?: function ? register_ftrace_function(&ops) : 0;
}

static void __exit ackskip_rival_exit(void)
{
	if (function)
		unregister_ftrace_function(&ops);
	unregister_net_sysctl_table(header);
}

module_init(ackskip_rival_init)
module_exit(ackskip_rival_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stands in the way of tcp_ackskip");
