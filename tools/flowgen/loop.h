/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event loop: one epoll set, one timerfd, one signalfd. It only ever sleeps
 * in epoll_wait() without a time limit, because in a time-travelling kernel
 * virtual time passes only while every process sleeps.
 */
#ifndef FLOWGEN_LOOP_H
#define FLOWGEN_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define NEVER	INT64_MAX

struct loop;

/*
 * Something that waits for a descriptor, a moment, or both. First member of its
 * owner, which came from malloc(). Once `done` is set no callback is made, the
 * descriptor is closed and the owner freed.
 */
struct activity {
	struct activity *next;
	int fd;				/* -1: none */
	int64_t wake_ns;		/* CLOCK_MONOTONIC, or NEVER */
	bool done;
	void (*ready)(struct loop *loop, struct activity *act, uint32_t events);
	void (*wake)(struct loop *loop, struct activity *act, int64_t now);
	/* SIGTERM or SIGINT: write down what is known; may be NULL */
	void (*interrupt)(struct loop *loop, struct activity *act);
};

struct loop {
	int epoll_fd;
	int timer_fd;
	int signal_fd;
	int out_fd;			/* JSON lines */
	int64_t interval_ns;		/* between samples */
	int64_t armed_ns;		/* what timer_fd is set to */
	struct activity *activities;
	bool failed;			/* makes the exit code 1 */
	unsigned long strays;		/* datagrams of no QUIC-like flow that is known */
};

void loop_open(struct loop *loop);

/* Takes over act. */
void loop_add(struct loop *loop, struct activity *act);
/* Gives act a descriptor to wait for and own; EVENTS as for epoll_ctl(2). */
void loop_attach(struct loop *loop, struct activity *act, int fd,
		 uint32_t events);
/* Changes what to wait for. */
void loop_watch(struct loop *loop, struct activity *act, uint32_t events);

/* An activity that only waits for FD to be readable, until SIGTERM. */
void loop_listen(struct loop *loop, int fd,
		 void (*ready)(struct loop *, struct activity *, uint32_t));

/* Runs until no activity is left. Returns the exit code. */
int loop_run(struct loop *loop);

#endif
