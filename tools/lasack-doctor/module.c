// SPDX-License-Identifier: GPL-2.0-only
/* See module.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "shell_word.h"

#define NAME	"sch_lasack"

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

/* modules.dep has a line for each module: its path, a colon, and the paths of what it needs. */
static void find_built(const char *modules, struct module *module)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/modules.dep", modules);
	file = fopen(path, "re");
	if (!file)
		return;
	module->built = MODULE_ABSENT;
	while (module->built == MODULE_ABSENT && getline(&line, &size, file) > 0) {
		line[strcspn(line, ":")] = '\0';
		if (strstr(line, "/" NAME ".ko"))
			module->built = MODULE_THERE;
	}
	free(line);
	fclose(file);
}

void module_read(const char *sys, const char *modules, struct module *module)
{
	char path[PATH_MAX];

	memset(module, 0, sizeof(*module));
	snprintf(path, sizeof(path), "%s/module/" NAME, sys);
	module->loaded = !access(path, F_OK);
	module->signed_only =
		says(sys, "kernel/security/lockdown", "[integrity]", "[confidentiality]") ||
		says(sys, "module/module/parameters/sig_enforce", "Y", "1");
	find_built(modules, module);
}

void look_at_module(const struct machine *machine, const struct device *device,
		    struct findings *findings)
{
	const struct module *module = &machine->module;
	struct word release = shell_word(module->release);

	if (!device->wifi || device_ours(device))
		return;
	if (module->loaded) {
		find(findings, "module", STATE_OK, NAME " is loaded.");
	} else if (module->built == MODULE_ABSENT) {
		find(findings, "module", STATE_PROBLEM,
		     NAME " is not built for this kernel, %s. tc will say that it does not know "
		     "this kind of queue discipline.", release.text);
		find_type(findings, "apt install linux-headers-%s && dkms autoinstall   # Debian",
			  release.text);
	} else if (module->signed_only) {
		find(findings, "module", STATE_NOTE,
		     "This kernel loads signed modules only (Secure Boot). If tc says that it does "
		     "not know this kind of queue discipline, let the firmware know DKMS's key "
		     "and boot again.");
		find_type(findings, "mokutil --import /var/lib/dkms/mok.pub");
	} else if (module->built == MODULE_THERE) {
		find(findings, "module", STATE_OK, NAME " is built for this kernel.");
	} else {
		find(findings, "module", STATE_UNKNOWN,
		     "Whether " NAME " is built for this kernel cannot be told: "
		     "/lib/modules/%s has no list of modules.", release.text);
	}
}
