#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make deb: Debian packages in build/deb, from a copy of the tree.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
	echo "deb: $*" >&2
	exit 1
}

for package in dpkg-dev debhelper dh-dkms; do
	dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
		die "needs packages: sudo apt-get install dpkg-dev debhelper dh-dkms"
done
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
source=build/deb/lasack-$version
rm -rf build/deb
mkdir -p "$source"
# What is in the working tree, but for products; a file that git knows may be gone.
git ls-files -z --cached --others --exclude-standard |
	while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | tar -c --null -T - | tar -x -C "$source"
cp -r packaging/debian "$source/debian"
log=build/deb/build.log
(cd "$source" && dpkg-buildpackage -b -us -uc) > "$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "dpkg-buildpackage failed; whole log: $log"
}
rm -rf "$source"
ls build/deb/*.deb
