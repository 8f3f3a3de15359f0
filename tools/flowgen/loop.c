// SPDX-License-Identifier: GPL-2.0-only
/*
 * Level-triggered epoll with a single absolute timer set to the earliest wish
 * of all activities. Activities that are done are freed after the batch of
 * events they were in, so no event meets freed memory.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop.h"
#include "record.h"

#define BATCH	64		/* events taken per epoll_wait() */

void die(int error, const char *format, ...)
{
	va_list args;

	fputs("flowgen: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(1);
}

static void watch_fd(struct loop *loop, int op, int fd, void *ptr,
		     uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = ptr };

	if (epoll_ctl(loop->epoll_fd, op, fd, &event))
		die(errno, "epoll_ctl");
}

/* Each flow is a descriptor, and under overload flows pile up. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void loop_open(struct loop *loop)
{
	sigset_t signals;

	allow_descriptors();
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);

	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC,
					TFD_NONBLOCK | TFD_CLOEXEC);
	loop->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (loop->epoll_fd < 0 || loop->timer_fd < 0 || loop->signal_fd < 0)
		die(errno, "cannot make the event loop");
	loop->armed_ns = NEVER;
	watch_fd(loop, EPOLL_CTL_ADD, loop->timer_fd, &loop->timer_fd, EPOLLIN);
	watch_fd(loop, EPOLL_CTL_ADD, loop->signal_fd, &loop->signal_fd, EPOLLIN);
}

void loop_add(struct loop *loop, struct activity *act)
{
	act->next = loop->activities;
	loop->activities = act;
}

void loop_attach(struct loop *loop, struct activity *act, int fd,
		 uint32_t events)
{
	act->fd = fd;
	watch_fd(loop, EPOLL_CTL_ADD, fd, act, events);
}

void loop_watch(struct loop *loop, struct activity *act, uint32_t events)
{
	watch_fd(loop, EPOLL_CTL_MOD, act->fd, act, events);
}

void loop_listen(struct loop *loop, int fd,
		 void (*ready)(struct loop *, struct activity *, uint32_t))
{
	struct activity *act = calloc(1, sizeof(*act));

	if (!act)
		die(errno, "out of memory");
	act->wake_ns = NEVER;
	act->ready = ready;
	loop_add(loop, act);
	loop_attach(loop, act, fd, EPOLLIN);
}

static void arm_timer(struct loop *loop)
{
	struct itimerspec spec = { };
	int64_t earliest = NEVER;
	struct activity *act;

	for (act = loop->activities; act; act = act->next)
		if (act->wake_ns < earliest)
			earliest = act->wake_ns;
	if (earliest == loop->armed_ns)
		return;
	loop->armed_ns = earliest;
	if (earliest != NEVER) {	/* all zero disarms */
		spec.it_value.tv_sec = earliest / NSEC_PER_SEC;
		spec.it_value.tv_nsec = earliest % NSEC_PER_SEC;
	}
	if (timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL))
		die(errno, "timerfd_settime");
}

static void take_timer(struct loop *loop)
{
	int64_t now = now_ns();
	struct activity *act;
	uint64_t expirations;

	if (read(loop->timer_fd, &expirations, sizeof(expirations)) < 0)
		return;
	loop->armed_ns = NEVER;
	for (act = loop->activities; act; act = act->next)
		if (!act->done && act->wake_ns <= now)
			act->wake(loop, act, now);
}

static void take_signal(struct loop *loop)
{
	struct signalfd_siginfo info;
	struct activity *act;

	if (read(loop->signal_fd, &info, sizeof(info)) < 0)
		return;
	for (act = loop->activities; act; act = act->next) {
		if (!act->done && act->interrupt)
			act->interrupt(loop, act);
		act->done = true;
	}
}

static void release_done(struct loop *loop)
{
	struct activity **link = &loop->activities, *act;

	while ((act = *link)) {
		if (!act->done) {
			link = &act->next;
			continue;
		}
		*link = act->next;
		if (act->fd >= 0)
			close(act->fd);
		free(act);
	}
}

int loop_run(struct loop *loop)
{
	struct epoll_event events[BATCH];
	struct activity *act;
	int i, n;

	for (;;) {
		release_done(loop);
		if (!loop->activities)
			return loop->failed;
		arm_timer(loop);
		n = epoll_wait(loop->epoll_fd, events, BATCH, -1);
		if (n < 0 && errno != EINTR)
			die(errno, "epoll_wait");
		for (i = 0; i < n; i++) {
			if (events[i].data.ptr == &loop->timer_fd) {
				take_timer(loop);
				continue;
			}
			if (events[i].data.ptr == &loop->signal_fd) {
				take_signal(loop);
				continue;
			}
			act = events[i].data.ptr;
			if (!act->done)
				act->ready(loop, act, events[i].events);
		}
	}
}
