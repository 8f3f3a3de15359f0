// SPDX-License-Identifier: GPL-2.0-only
/*
 * lasack-doctor: why is this Wi-Fi slow, and what is to be typed. Command
 * line, and the order of things.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <netlink/socket.h>
#include <linux/nl80211.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "diagnose.h"
#include "files.h"
#include "flowtables.h"
#include "links.h"
#include "machine.h"
#include "radios.h"
#include "report.h"

#define NSEC_PER_SEC	1000000000LL
#define LOOK_NS		(NSEC_PER_SEC / 20)
#define WIDTH_PIPED	80
#define WIDTH_MIN	72
#define WIDTH_MAX	120

static const char usage_text[] =
"Usage: lasack-doctor [DEVICE] [--seconds S] [--json]\n"
"\n"
"Says why Wi-Fi may be slow, and what to type. It looks at a device's queue\n"
"discipline, whether its module can be loaded, whether it holds packets\n"
"(back-pressure), what the driver is known to do, offload, airtime queue limits,\n"
"airtime fairness, power save, and on which device packets wait. Run it while it\n"
"is slow. It changes nothing, but as root it makes the kernel load nf_tables.\n"
"\n"
"  DEVICE           a network device (default: every access point, or else every\n"
"                   Wi-Fi device)\n"
"  -s, --seconds S  how long to look at the queues, 0.1 to 60 (default 2)\n"
"  -j, --json       one JSON object\n"
"  -h, --help\n"
"\n"
"Without root it cannot see flowtables and debugfs, and says so.\n"
"Exit code: 0 if no problem was found, 1 if one was or the machine cannot be\n"
"examined (one line says why), 2 for bad usage.\n"
"\n"
"Examples:\n"
"  sudo lasack-doctor               every access point of this machine\n"
"  lasack-doctor wlan0 -s 10        ten seconds, as long as the trouble lasts\n"
"  lasack-doctor --json | jq '.devices[].findings[] | select(.state == \"problem\")'\n";

struct wanted {
	const char *device;		/* NULL: every access point */
	int64_t ns;
	bool json;
};

static int64_t parse_seconds(const char *text)
{
	double seconds;
	char *end;

	errno = 0;
	seconds = strtod(text, &end);
	if (errno || end == text || *end || !(seconds >= 0.1 && seconds <= 60))
		misuse("--seconds %s: give 0.1 to 60", text);
	return llround(seconds * NSEC_PER_SEC);
}

static void parse_options(struct wanted *wanted, int argc, char **argv)
{
	static const struct option names[] = {
		{ "seconds", 1, NULL, 's' }, { "json", 0, NULL, 'j' },
		{ "help", 0, NULL, 'h' }, { },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":s:jh", names, NULL)) != -1) {
		switch (c) {
		case 's':
			wanted->ns = parse_seconds(optarg);
			break;
		case 'j':
			wanted->json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		case ':':
			misuse("%s needs a value", argv[optind - 1]);
		default:
			misuse("%s is not an option", argv[optind - 1]);
		}
	}
	if (optind < argc)
		wanted->device = argv[optind++];
	if (optind < argc)
		misuse("unexpected argument %s", argv[optind]);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Looks at once and then again and again, for NS. */
static void watch(struct machine *machine, struct nl_sock *links,
		  struct radio_source *radios, int64_t ns)
{
	int64_t began = now_ns(), next = began;
	struct timespec until;

	do {
		links_look(links, machine);
		if (radios)
			radios_look(radios, machine);
		next += LOOK_NS;
		until.tv_sec = next / NSEC_PER_SEC;
		until.tv_nsec = next % NSEC_PER_SEC;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	} while (next - began < ns);
	machine->seconds = (double)(now_ns() - began) / NSEC_PER_SEC;
}

/* A device with a queue of its own for an access point's stations. */
static bool serves_stations(const struct device *device)
{
	return device->wifi && (device->type == NL80211_IFTYPE_AP ||
				device->type == NL80211_IFTYPE_AP_VLAN ||
				device->type == NL80211_IFTYPE_P2P_GO);
}

/* The devices to report on: the one named, or all access points, or all Wi-Fi. */
static size_t choose(const struct machine *machine, const char *name,
		     const struct device **chosen)
{
	size_t count = 0;

	if (name) {
		chosen[0] = machine_device_named(machine, name);
		if (!chosen[0])
			misuse("no device %s, ip link lists them", name);
		return 1;
	}
	for (size_t i = 0; i < machine->device_count; i++)
		if (serves_stations(&machine->devices[i]))
			chosen[count++] = &machine->devices[i];
	for (size_t i = 0; i < machine->device_count && !count; i++)
		if (machine->devices[i].wifi)
			chosen[count++] = &machine->devices[i];
	if (!count)
		die("no Wi-Fi device here; name a device: lasack-doctor DEVICE");
	return count;
}

static void read_module(struct machine *machine)
{
	struct utsname name;
	char modules[PATH_MAX];

	if (uname(&name))
		die("uname: %s", strerror(errno));
	snprintf(modules, sizeof(modules), "/lib/modules/%s", name.release);
	module_read("/sys", modules, &machine->module);
	snprintf(machine->module.release, sizeof(machine->module.release), "%s", name.release);
}

static int columns(void)
{
	struct winsize size = { };
	int width = WIDTH_PIPED;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col - 1;
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Returns whether there is a problem. */
static bool examine(const struct machine *machine, const struct device **devices,
		    size_t count, bool json)
{
	struct report *reports = calloc(count, sizeof(*reports));
	bool problem = false;

	if (!reports)
		die("out of memory");
	for (size_t i = 0; i < count; i++) {
		struct report *report = &reports[i];

		report->device = devices[i];
		report->radio = devices[i]->wifi ? machine_radio(machine, devices[i]->radio) : NULL;
		files_read("/sys", devices[i]->name, report->radio ? report->radio->name : NULL,
			   &report->hardware);
		diagnose(machine, devices[i], &report->hardware, &report->findings);
		problem |= findings_have(&report->findings, STATE_PROBLEM);
		if (!json)
			report_text(stdout, report, columns());
		if (!json && i + 1 < count)
			putchar('\n');
	}
	if (json)
		report_json(stdout, machine, reports, count);
	for (size_t i = 0; i < count; i++)
		findings_clear(&reports[i].findings);
	free(reports);
	return problem;
}

int main(int argc, char **argv)
{
	struct wanted wanted = { .ns = 2 * NSEC_PER_SEC };
	struct radio_source *radios = NULL;
	const struct device **devices;
	struct machine machine = { };
	struct nl_sock *links;
	size_t count;
	bool problem;

	parse_options(&wanted, argc, argv);
	links = links_open();
	radios = radios_open();
	links_read(links, &machine);
	if (radios)
		radios_read(radios, &machine);
	devices = calloc(machine.device_count + 1, sizeof(*devices));
	if (!devices)
		die("out of memory");
	count = choose(&machine, wanted.device, devices);
	flowtables_read(&machine);
	read_module(&machine);
	watch(&machine, links, radios, wanted.ns);
	problem = examine(&machine, devices, count, wanted.json);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %s", strerror(errno));
	free(devices);
	machine_clear(&machine);
	radios_close(radios);
	nl_socket_free(links);
	return problem;
}
