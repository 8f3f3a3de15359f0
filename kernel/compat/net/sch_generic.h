/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of newer kernels' net/sch_generic.h, under their names there.
 * COMPAT_HAVE_* come from compat/Kbuild.probe: distributions backport, so the
 * headers are asked, not the version.
 */
#ifndef LASACK_COMPAT_NET_SCH_GENERIC_H
#define LASACK_COMPAT_NET_SCH_GENERIC_H

#include_next <net/sch_generic.h>

#ifndef COMPAT_HAVE_QDISC_QLEN_INC
static inline void qdisc_qlen_inc(struct Qdisc *q)
{
	WRITE_ONCE(q->q.qlen, q->q.qlen + 1);
}

static inline void qdisc_qlen_dec(struct Qdisc *q)
{
	WRITE_ONCE(q->q.qlen, q->q.qlen - 1);
}
#endif

#ifndef COMPAT_HAVE_QSTATS_BACKLOG_ADD
static inline void qstats_backlog_add(struct Qdisc *sch, u32 val)
{
	WRITE_ONCE(sch->qstats.backlog, sch->qstats.backlog + val);
}

static inline void qstats_backlog_sub(struct Qdisc *sch, u32 val)
{
	WRITE_ONCE(sch->qstats.backlog, sch->qstats.backlog - val);
}
#endif

#ifndef COMPAT_HAVE_DEV_DEACTIVATE_RESET
/* Older kernels reset the qdiscs always. */
#define dev_deactivate(dev, reset_needed) dev_deactivate(dev)
#endif

/* The number of GSO segments a packet counts for, where the kernel keeps it. */
static inline void qdisc_skb_cb_set_segs(struct sk_buff *skb, u16 segs)
{
#ifdef COMPAT_HAVE_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = segs;
#endif
}

#endif
