// SPDX-License-Identifier: GPL-2.0-only
/* Messages leave in their order, in few calls and in datagrams of at most a page. */
#include "../hwsim/outgoing.c"

#include <string.h>
#include <unistd.h>

#include "tap.h"

#define PAGE	4096

static struct outgoing out;
static int ends[2];

/* A message of @length bytes, all of them @value; false if there is no room. */
static bool put(int value, size_t length)
{
	void *room = outgoing_room(&out, length);

	if (!room)
		return false;
	memset(room, value, length);
	outgoing_add(&out, length);
	return true;
}

static void begin(int *failures)
{
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
}

/* Take what has arrived: the lengths of the datagrams, and all bytes in a row. */
static int take(size_t *lengths, uint8_t *bytes)
{
	int n = 0;
	ssize_t got;

	while ((got = read(ends[1], bytes, OUTGOING_BYTES)) > 0) {
		lengths[n++] = got;
		bytes += got;
	}
	close(ends[0]);
	close(ends[1]);
	return n;
}

static void short_messages(int *failures)
{
	static uint8_t bytes[2 * OUTGOING_BYTES];
	size_t lengths[OUTGOING_DATAGRAMS + 1];
	size_t total = 0;
	int n;

	begin(failures);
	for (int i = 0; i < 100; i++)
		EXPECT(put(i, 200));
	EXPECT(outgoing_send(&out, ends[0]));
	n = take(lengths, bytes);
	/* As few as can be: 17 messages fit in 3584 bytes. */
	EXPECT_EQ(n, 6);
	for (int i = 0; i < n; i++) {
		EXPECT(lengths[i] < PAGE);
		EXPECT_EQ(lengths[i] % 200, 0);
		total += lengths[i];
	}
	EXPECT_EQ(total, 100 * 200);
	for (size_t i = 0; i < total; i++)
		EXPECT_EQ(bytes[i], i / 200);
}

/* No frame of the medium is as long as a page; one that is would go alone. */
static void a_long_message(int *failures)
{
	static uint8_t bytes[2 * OUTGOING_BYTES];
	size_t lengths[OUTGOING_DATAGRAMS + 1];

	begin(failures);
	EXPECT(put(1, 100));
	EXPECT(put(2, 8000));
	EXPECT(put(3, 100));
	EXPECT(outgoing_send(&out, ends[0]));
	EXPECT_EQ(take(lengths, bytes), 3);
	EXPECT_EQ(lengths[0], 100);
	EXPECT_EQ(lengths[1], 8000);
	EXPECT_EQ(lengths[2], 100);
	EXPECT_EQ(bytes[100], 2);
	EXPECT_EQ(bytes[8100], 3);
}

/* Messages of any length end where there is room for no more, not behind it. */
static void full(int *failures)
{
	static uint8_t bytes[2 * OUTGOING_BYTES];
	static const size_t each[] = { 4, 1700, 2000, 3584, 9000 };
	size_t lengths[OUTGOING_DATAGRAMS + 1];

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		size_t before = 0;
		size_t total = 0;
		int n;

		begin(failures);
		while (put(7, each[i]))
			before += each[i];
		EXPECT(before > 0);
		EXPECT(out.length <= OUTGOING_BYTES);
		EXPECT(outgoing_send(&out, ends[0]));
		EXPECT(put(7, each[i]));
		EXPECT(outgoing_send(&out, ends[0]));
		n = take(lengths, bytes);
		for (int j = 0; j < n; j++)
			total += lengths[j];
		EXPECT_EQ(total, before + each[i]);
	}
}

static void nothing(int *failures)
{
	EXPECT(outgoing_send(&out, -1));
	EXPECT(put(1, 100));
	EXPECT(!outgoing_send(&out, -1));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "short messages share datagrams and stay in order", short_messages },
		{ "a long message goes alone", a_long_message },
		{ "what does not fit has to wait", full },
		{ "nothing to send is no system call; a closed socket is an error", nothing },
		{ 0 },
	};

	return tap_run(cases);
}
