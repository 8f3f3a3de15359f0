// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a program's FP registers stay as they are whatever the kernel does
 * between two of its instructions. Prints a line for each case that they did not
 * survive; the exit code is their number.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS	200
#define OTHER	0x0123456789abcdefull	/* what a signal handler leaves */

static int failures;

static void expect(const char *what, uint64_t found, uint64_t expected)
{
	if (found == expected)
		return;
	printf("%s: %llx, not %llx\n", what, (unsigned long long)found,
	       (unsigned long long)expected);
	failures++;
}

/* xmm8 after a system call, @value before it; in the child too, if it forks. */
static uint64_t across(long number, long a, long b, uint64_t value, long *returned)
{
	uint64_t after;

	asm volatile("movq %[value], %%xmm8\n\t"
		     "syscall\n\t"
		     "movq %%xmm8, %[after]"
		     : "+a"(number), [after] "=&r"(after)
		     : "D"(a), "S"(b), [value] "r"(value)
		     : "rcx", "r11", "xmm8", "memory");
	*returned = number;
	return after;
}

/* xmm8 after a write to @page. */
static uint64_t across_write(volatile char *page, uint64_t value)
{
	uint64_t after;

	asm volatile("movq %[value], %%xmm8\n\t"
		     "movb $1, (%[page])\n\t"
		     "movq %%xmm8, %[after]"
		     : [after] "=&r"(after)
		     : [page] "r"(page), [value] "r"(value) : "xmm8", "memory");
	return after;
}

/* xmm8 after a child that shares all memory has used it. */
static uint64_t across_vfork(uint64_t value)
{
	long number = SYS_vfork;
	uint64_t after;

	asm volatile("movq %[value], %%xmm8\n\t"
		     "syscall\n\t"
		     "test %%rax, %%rax\n\t"
		     "jnz 1f\n\t"
		     "pxor %%xmm8, %%xmm8\n\t"
		     "mov %[getpid], %%eax\n\t"
		     "syscall\n\t"
		     "mov %[exit], %%eax\n\t"
		     "xor %%edi, %%edi\n\t"
		     "syscall\n"
		     "1:\tmovq %%xmm8, %[after]"
		     : "+a"(number), [after] "=&r"(after)
		     : [value] "r"(value), [getpid] "i"(SYS_getpid), [exit] "i"(SYS_exit)
		     : "rcx", "rdi", "r11", "xmm8", "memory");
	wait(NULL);
	return after;
}

static void system_calls(const char *what, uint64_t own)
{
	long returned;

	for (uint64_t i = 0; i < ROUNDS; i++)
		expect(what, across(SYS_sched_yield, 0, 0, own + i, &returned), own + i);
}

/* Two processes in turn; the second one begins with what the first one has. */
static void processes(void)
{
	long child;

	expect("fork", across(SYS_fork, 0, 0, 11, &child), 11);
	system_calls(child ? "parent" : "child", child ? 1000 : 2000);
	if (!child)
		_exit(failures);
	wait(&(int){ 0 });
}

static void page_faults(void)
{
	char *pages = mmap(NULL, ROUNDS * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (uint64_t i = 0; i < ROUNDS; i++)
		expect("page fault", across_write(pages + 4096 * i, i), i);
}

static uint64_t in_frame;	/* xmm8 in the signal's frame */

static void handler(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	uint64_t *saved = (uint64_t *)&interrupted->uc_mcontext.fpregs->_xmm[8];

	(void)number;
	(void)info;
	in_frame = *saved;
	*saved = OTHER;
	asm volatile("pxor %%xmm8, %%xmm8" ::: "xmm8");
}

static void signals(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	long returned;

	sigaction(SIGUSR1, &action, NULL);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		expect("after a signal", across(SYS_kill, getpid(), SIGUSR1, i, &returned),
		       OTHER);
		expect("in a signal's frame", in_frame, i);
	}
}

static void *thread(void *own)
{
	system_calls("thread", (uint64_t)own);
	return NULL;
}

static void threads(void)
{
	pthread_t second;

	pthread_create(&second, NULL, thread, (void *)5000ul);
	system_calls("first thread", 4000);
	pthread_join(second, NULL);
	system_calls("the thread that is left", 6000);
}

/* A program that cannot be started leaves the old one as it was. */
static void failed_exec(void)
{
	static const char *const words[] = { NULL };
	long returned;

	expect("exec", across(SYS_execve, (long)"/nowhere", (long)words, 77, &returned), 77);
}

int main(void)
{
	system_calls("system call", 1);
	page_faults();
	processes();
	signals();
	for (uint64_t i = 0; i < ROUNDS; i++)
		expect("vfork", across_vfork(i), i);
	failed_exec();
	threads();
	return failures > 100 ? 100 : failures;
}
