/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tc plugin may use of iproute2.
 *
 * Debian's tc loads q_KIND.so and looks up KIND_qdisc_util in it, but installs
 * no header for that. These are the declarations the plugins need, as they
 * have been in iproute2 since 5.0, but for const; has_block came in 5.8. The
 * plugin finds the functions in the tc that loads it.
 */
#ifndef LASACK_TC_PLUGIN_H
#define LASACK_TC_PLUGIN_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f,
			    struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	/* "tc filter show block N" calls it if it is there. */
	int (*has_block)(struct qdisc_util *qu, struct rtattr *opt, __u32 block,
			 bool *has);
};

/* tc finds KIND_qdisc_util by name; nothing else leaves the plugin. */
#define TC_PLUGIN_EXPORT __attribute__((visibility("default")))

/* The request buffer tc gives to parse_qopt. */
#define TC_REQUEST_MAX	1024

enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr { COLOR_NONE = 6 };

int print_color_string(enum output_type type, enum color_attr color,
		       const char *key, const char *fmt, const char *value);
int print_color_int(enum output_type type, enum color_attr color,
		    const char *key, const char *fmt, int value);
int print_color_float(enum output_type type, enum color_attr color,
		      const char *key, const char *fmt, double value);
int print_color_uint(enum output_type type, enum color_attr color,
		     const char *key, const char *fmt, unsigned int value);
int print_color_u64(enum output_type type, enum color_attr color,
		    const char *key, const char *fmt, __u64 value);
int print_nl(void);

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int addattr32(struct nlmsghdr *n, int maxlen, int type, __u32 data);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta,
		       int len, unsigned short flags);

#endif
