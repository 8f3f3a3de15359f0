/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A test program is a list of cases; each prints one TAP line, and the
 * expectations that did not hold before it, as comments.
 */
#ifndef DCFMEDIUM_TAP_H
#define DCFMEDIUM_TAP_H

#include <stdio.h>
#include <stddef.h>

struct tap_case {
	const char *name;
	void (*run)(int *failures);
};

#define EXPECT_EQ(actual, expected)					\
	do {								\
		long long actual_ = (long long)(actual);		\
		long long expected_ = (long long)(expected);		\
		if (actual_ != expected_) {				\
			printf("# %s:%d: %s is %lld, not %lld\n",	\
			       __FILE__, __LINE__, #actual, actual_,	\
			       expected_);				\
			(*failures)++;					\
		}							\
	} while (0)

#define EXPECT(condition) EXPECT_EQ(!!(condition), 1)

/* Run @cases, up to one without name; returns the program's exit code. */
static inline int tap_run(const struct tap_case *cases)
{
	int n = 0, failed = 0;

	while (cases[n].name)
		n++;
	printf("TAP version 13\n1..%d\n", n);
	for (int i = 0; i < n; i++) {
		int failures = 0;

		cases[i].run(&failures);
		printf("%s %d - %s\n", failures ? "not ok" : "ok", i + 1,
		       cases[i].name);
		failed += failures > 0;
	}
	return failed > 0;
}

#endif
