#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make setup: installs what scripts/packages lists and makes .venv from
# requirements.lock. Does nothing, fast, when both are there already; asks
# for sudo only when a package is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
	echo "setup: $*" >&2
	exit 1
}

missing_packages() {
	local package
	sed -e 's/#.*//' scripts/packages | while read -r package _; do
		[ -n "$package" ] || continue
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
			grep -qx installed || echo "$package"
	done
}

install_packages() {
	local missing as_root=()
	if ! command -v dpkg-query apt-get >/dev/null; then
		[ -x .venv/bin/apbed ] && return
		echo "Debian's names of the packages the lab needs:" >&2
		sed -n 's/^\([a-z0-9][^\t ]*\).*/  \1/p' scripts/packages >&2
		die "no apt here: install their equivalents, then run scripts/setup.sh python"
	fi
	mapfile -t missing < <(missing_packages)
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "not root and no sudo; as root: apt-get install ${missing[*]}"
		as_root=(sudo)
	fi
	echo "setup: installing ${missing[*]}"
	"${as_root[@]}" apt-get update -q
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# Debian's own interpreter first: a version manager's shim costs seconds per
# call inside a lab kernel.
system_python() {
	local python
	for python in /usr/bin/python3 python3; do
		if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
			echo "$python"
			return
		fi
	done
	die "Python 3.11 or newer is needed"
}

make_venv() {
	local python stamp
	# The checkers' settings, which end pyproject.toml, install nothing.
	stamp=$({ pwd; cat requirements.lock; sed '/^\[tool\.pytest/,$d' pyproject.toml; } | sha256sum)
	[ "$(cat .venv/stamp 2>/dev/null)" != "$stamp" ] || return 0
	python=$(system_python)
	echo "setup: making .venv with $python"
	"$python" -m venv --clear .venv
	.venv/bin/pip install -q --require-hashes -r requirements.lock
	.venv/bin/pip install -q --no-deps --no-build-isolation -e .
	echo "$stamp" >.venv/stamp
}

# In a tree of the Debian package apbed, which depends on Debian's own packages of the libraries,
# nothing is downloaded: this .venv only has them, and is where Makefile and scripts look for apbed.
link_venv() {
	local python stamp
	python=$(system_python)
	stamp="$(pwd) $("$python" --version)"
	[ "$(cat .venv/stamp 2>/dev/null)" != "$stamp" ] || return 0
	"$python" -m venv --clear --system-site-packages --without-pip .venv
	echo "$PWD/testbed" >"$(echo .venv/lib/python3*/site-packages)/apbed.pth"
	cat >.venv/bin/apbed <<-END
		#!$PWD/.venv/bin/python
		from apbed.cli import main
		raise SystemExit(main())
	END
	chmod +x .venv/bin/apbed
	echo "$stamp" >.venv/stamp
}

[ "${1:-}" = python ] || install_packages
if [ -e .packaged ]; then
	link_venv
else
	make_venv
fi
