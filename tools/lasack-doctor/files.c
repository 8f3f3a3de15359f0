// SPDX-License-Identifier: GPL-2.0-only
/* See files.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* The last part of the path that a link leads to, or "". */
static void link_name(const char *path, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	const char *slash;

	name[0] = '\0';
	if (length < 0)
		return;
	target[length] = '\0';
	slash = strrchr(target, '/');
	snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
}

/* Returns false and leaves errno if the file cannot be read; what is longer is cut. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	close(fd);
	if (length < 0)
		return false;
	text[length] = '\0';
	return true;
}

/* mt7915e and mt7996e send to Wireless Ethernet Dispatch if they are told to at load. */
static bool read_wed(const char *sys, const char *driver)
{
	char path[PATH_MAX], text[16];

	snprintf(path, sizeof(path), "%s/module/%s/parameters/wed_enable", sys, driver);
	return read_text(path, text, sizeof(text)) && (text[0] == 'Y' || text[0] == '1');
}

static void read_debugfs(const char *sys, const char *radio, struct hardware *hardware)
{
	char path[PATH_MAX], text[256];

	hardware->debugfs = FILE_ABSENT;
	snprintf(path, sizeof(path), "%s/kernel/debug/ieee80211/%s/airtime_flags", sys, radio);
	if (read_text(path, text, sizeof(text))) {
		hardware->debugfs = FILE_READ;
		hardware->airtime_tx = strstr(text, "AIRTIME_TX") != NULL;
		hardware->airtime_rx = strstr(text, "AIRTIME_RX") != NULL;
	} else if (errno == EACCES || errno == EPERM) {
		hardware->debugfs = FILE_NEEDS_ROOT;
	}
	snprintf(path, sizeof(path), "%s/kernel/debug/ieee80211/%s/aql_enable", sys, radio);
	if (read_text(path, text, sizeof(text)))
		hardware->aql_enabled = text[0] == '1';
}

void files_read(const char *sys, const char *device, const char *radio,
		struct hardware *hardware)
{
	char path[PATH_MAX];

	memset(hardware, 0, sizeof(*hardware));
	hardware->aql_enabled = hardware->airtime_tx = hardware->airtime_rx = -1;
	snprintf(path, sizeof(path), "%s/class/net/%s/device/driver", sys, device);
	link_name(path, hardware->driver, sizeof(hardware->driver));
	snprintf(path, sizeof(path), "%s/class/net/%s/device/subsystem", sys, device);
	link_name(path, hardware->bus, sizeof(hardware->bus));
	if (hardware->driver[0])
		hardware->wed = read_wed(sys, hardware->driver);
	if (radio)
		read_debugfs(sys, radio, hardware);
}

/* Whether the first line of the file SYS/BELOW has one of two words; not if it cannot be read. */
static bool says(const char *sys, const char *below, const char *word, const char *other)
{
	char path[PATH_MAX], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", sys, below);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, word) || strstr(line, other);
}

/*
 * Whether our module is in a list of modules: MODULES/modules.dep has a line for each, its path, a
 * colon, and the paths of what it needs. modules.builtin has the paths of what is in the kernel.
 */
static int listed(const char *modules, const char *list)
{
	char path[PATH_MAX], *line = NULL;
	int found = MODULE_ABSENT;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", modules, list);
	file = fopen(path, "re");
	if (!file)
		return MODULE_UNKNOWN;
	while (found == MODULE_ABSENT && getline(&line, &size, file) > 0) {
		line[strcspn(line, ":")] = '\0';
		if (strstr(line, "/" MODULE_NAME ".ko"))
			found = MODULE_THERE;
	}
	free(line);
	fclose(file);
	return found;
}

void module_read(const char *sys, const char *modules, struct module *module)
{
	char path[PATH_MAX];

	memset(module, 0, sizeof(*module));
	snprintf(path, sizeof(path), "%s/module/" MODULE_NAME, sys);
	module->loaded = !access(path, F_OK) ||
			 listed(modules, "modules.builtin") == MODULE_THERE;
	module->signed_only =
		says(sys, "kernel/security/lockdown", "[integrity]", "[confidentiality]") ||
		says(sys, "module/module/parameters/sig_enforce", "Y", "1");
	module->built = listed(modules, "modules.dep");
}
