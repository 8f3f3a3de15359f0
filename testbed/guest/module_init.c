// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of a machine that has nothing but kernel modules: loads
 * those that /order names, a line each, and restarts the machine.
 *
 * Says "not ok" of one that does not load, and at last how many those were.
 * Why a program of its own: Debian has no shell for big-endian MIPS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return -1;
	status = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return status;
}

int main(void)
{
	FILE *order = fopen("/order", "r");
	char path[256];
	int failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	while (order && fgets(path, sizeof(path), order)) {
		path[strcspn(path, "\n")] = '\0';
		if (load(path)) {
			printf("not ok 1 %s: does not load: %s\n", path, strerror(errno));
			failed++;
		}
	}
	if (!order) {
		printf("Bail out! no /order\n");
		failed++;
	}
	printf("modules that do not load: %d\n", failed);
	reboot(RB_AUTOBOOT);
	return 1;
}
