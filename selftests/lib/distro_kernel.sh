# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The distribution's own kernel, with our modules for it (KTAP). Sourced after
# ktap.sh, from the top of the tree. Where there is no such kernel to be had, all
# tests are skipped.

# TESTS=y in the environment builds the modules with their tests.
distro_modules() {
	local tree

	[ "$(uname -m)" = x86_64 ] || ktap_skip_all "it boots an x86-64 kernel"
	command -v apt-cache > /dev/null || ktap_skip_all "no apt, no distribution's kernel"
	[ -n "$(apt-cache search --names-only '^linux-image-amd64$')" ] ||
		ktap_skip_all "no package linux-image-amd64"
	.venv/bin/apbed distro fetch || exit 1
	tree=$(.venv/bin/apbed distro tree) || exit 1
	make -C kernel KDIR="$tree" ARCH=x86_64 KCFLAGS=-Werror || exit 1
}
