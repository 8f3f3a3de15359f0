// SPDX-License-Identifier: GPL-2.0-only
/* See report.h. */
#include <stdlib.h>
#include <string.h>

#include "backpressure.h"
#include "diagnose.h"
#include "die.h"
#include "json_string.h"
#include "report.h"
#include "shell_word.h"

#define INDENT	27	/* of what is said, below the state and the subject */

/* Words of TEXT in lines that end before WIDTH; the first line has begun at INDENT. */
static void put_wrapped(FILE *out, const char *text, int width)
{
	int column = INDENT;

	while (*text) {
		int length = strcspn(text, " ");

		if (column > INDENT && column + 1 + length > width) {
			fprintf(out, "\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > INDENT) {
			column += fprintf(out, " ");
		}
		column += fprintf(out, "%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void put_commands(FILE *out, const char *commands)
{
	while (*commands) {
		int length = strcspn(commands, "\n");

		fprintf(out, "%*s%.*s\n", INDENT + 4, "", length, commands);
		commands += length + (commands[length] == '\n');
	}
}

void report_text(FILE *out, const struct report *report, int width)
{
	const struct hardware *hardware = &report->hardware;

	fprintf(out, "%s: %s", shell_word(report->device->name).text,
		device_role(report->device));
	if (report->radio)
		fprintf(out, " on %s", shell_word(report->radio->name).text);
	if (hardware->driver[0])
		fprintf(out, ", driver %s", shell_word(hardware->driver).text);
	/* hwsim's bus is itself. */
	if (hardware->driver[0] && hardware->bus[0] && strcmp(hardware->bus, hardware->driver))
		fprintf(out, " (%s)", shell_word(hardware->bus).text);
	fputc('\n', out);
	for (size_t i = 0; i < report->findings.count; i++) {
		const struct finding *finding = &report->findings.all[i];

		fprintf(out, "%-8s %-17s ", state_word(finding->state), finding->about);
		put_wrapped(out, finding->said, width);
		if (finding->type)
			put_commands(out, finding->type);
	}
}

static void put_pair(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",\"%s\":", name);
	if (value && value[0])
		json_string(out, value);
	else
		fputs("null", out);
}

static void put_commands_json(FILE *out, const char *commands)
{
	const char *comma = "";
	char *copy = strdup(commands ?: ""), *rest = copy, *line;

	if (!copy)
		die("out of memory");
	fputs(",\"type\":[", out);
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		fputs(comma, out);
		json_string(out, line);
		comma = ",";
	}
	fputc(']', out);
	free(copy);
}

static void put_report(FILE *out, const struct report *report)
{
	const struct device *device = report->device;
	const struct queue *root = device_root(device);

	fputs("{\"device\":", out);
	json_string(out, device->name);
	put_pair(out, "role", device_role(device));
	put_pair(out, "driver", report->hardware.driver);
	put_pair(out, "bus", report->hardware.bus);
	put_pair(out, "qdisc", root ? root->kind : NULL);
	put_pair(out, "backpressure", device_bounded(device) ?
		 backpressure_word(device_backpressure(device)) : NULL);
	fprintf(out, ",\"waiting_packets\":%.1f", device->packets);
	if (report->radio && report->radio->counts)
		fprintf(out, ",\"waiting_in_mac80211_packets\":%.1f", report->radio->packets);
	else
		fputs(",\"waiting_in_mac80211_packets\":null", out);
	fputs(",\"findings\":[", out);
	for (size_t i = 0; i < report->findings.count; i++) {
		const struct finding *finding = &report->findings.all[i];

		fprintf(out, "%s{\"about\":\"%s\",\"state\":\"%s\"", i ? "," : "",
			finding->about, state_word(finding->state));
		put_pair(out, "said", finding->said);
		put_commands_json(out, finding->type);
		fputc('}', out);
	}
	fputs("]}", out);
}

void report_json(FILE *out, const struct machine *machine, const struct report *reports,
		 size_t count)
{
	fprintf(out, "{\"schema\":%d,\"seconds\":%.3f,\"devices\":[", JSON_SCHEMA,
		machine->seconds);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		put_report(out, &reports[i]);
	}
	fputs("]}\n", out);
}
