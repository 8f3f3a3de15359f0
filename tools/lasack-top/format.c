// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, handles, ends of flows and wrapped lines as text: see text.h. */
#include <arpa/inet.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "text.h"

/* Three digits that matter, in the first unit that makes the value small. */
static struct text format_scaled(double value, const char *const *units)
{
	struct text out;
	int digits;

	if (value < 1000) {
		snprintf(out.text, sizeof(out.text), "%.0f %s", value, *units);
		return out;
	}
	while (value >= 999.5 && units[1]) {
		value /= 1000;
		units++;
	}
	digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(out.text, sizeof(out.text), "%.*f %s", digits, value, *units);
	return out;
}

struct text format_bytes(uint64_t bytes)
{
	static const char *const units[] = {
		"B", "kB", "MB", "GB", "TB", "PB", "EB", NULL
	};

	return format_scaled(bytes, units);
}

struct text format_us(uint64_t us)
{
	static const char *const units[] = { "us", "ms", "s", NULL };

	return format_scaled(us, units);
}

struct text format_handle(uint32_t handle)
{
	struct text out = { "root" };

	if (handle == TC_H_ROOT)
		return out;
	if (TC_H_MIN(handle))
		snprintf(out.text, sizeof(out.text), "%x:%x",
			 TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
	else
		snprintf(out.text, sizeof(out.text), "%x:", TC_H_MAJ(handle) >> 16);
	return out;
}

/* Returns whether it is IPv4. */
static int format_address(char *text, const uint8_t *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	int ipv4 = !memcmp(address, mapped, sizeof(mapped));

	inet_ntop(ipv4 ? AF_INET : AF_INET6,
		  ipv4 ? address + sizeof(mapped) : address, text, INET6_ADDRSTRLEN);
	return ipv4;
}

/* Cuts the middle out; the tail begins with a whole group of digits. */
static void shorten_address(char *address, int room)
{
	/* Stations of one network differ in the tail: all of a short room. */
	int head = room < 20 ? 0 : (room - 2) / 3;
	char *tail = address + strlen(address) - (room - 2 - head);

	if (!strchr(".:", tail[-1]) && strpbrk(tail, ".:"))
		tail = strpbrk(tail, ".:") + 1;
	memcpy(address + head, "..", 2);
	memmove(address + head + 2, tail, strlen(tail) + 1);
}

struct text format_end(const struct tc_lasack_flow *flow, int end, int width)
{
	char address[INET6_ADDRSTRLEN], port[8] = "";
	int ipv4 = format_address(address, flow->addr[end]);
	int brackets = !ipv4 && flow->port[end];
	struct text out;
	int room;

	if (flow->port[end])
		snprintf(port, sizeof(port), ":%u", ntohs(flow->port[end]));
	room = width - strlen(port) - 2 * brackets;
	if (strlen(address) > (size_t)room)
		shorten_address(address, room);
	snprintf(out.text, sizeof(out.text), "%s%s%s%s", brackets ? "[" : "",
		 address, brackets ? "]" : "", port);
	return out;
}

void wrap_item(struct wrap *wrap, const char *format, ...)
{
	char item[160];
	va_list args;
	int length;

	va_start(args, format);
	vsnprintf(item, sizeof(item), format, args);
	va_end(args);
	length = strlen(item);
	if (wrap->column && wrap->column + 2 + length + 1 > wrap->width) {
		fputs(",\n  ", wrap->out);
		wrap->column = 2;
	} else if (wrap->column) {
		fputs(", ", wrap->out);
		wrap->column += 2;
	}
	fputs(item, wrap->out);
	wrap->column += length;
}

void wrap_end(struct wrap *wrap)
{
	if (wrap->column)
		fputc('\n', wrap->out);
	wrap->column = 0;
}

struct text format_rate(double rate)
{
	struct text out = { "-" };
	double mbit = rate / 1e6;

	if (!isnan(rate))
		snprintf(out.text, sizeof(out.text), "%.*f",
			 mbit < 999.995 ? 2 : 0, mbit);
	return out;
}
