#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs apbed in a root of its own, lets an ordinary user start it, and purges it. Run by
# root in a mount namespace (unshare -m); test_laboratory.py does that.
#
#	laboratory.sh DEB_DIR OUT RESULTS
#
# RESULTS has runs of which the user computes the report. Leaves in OUT what was there before,
# while apbed was installed, and after the purge, and what each start said and made. Exit
# status 77: apt cannot fetch what apbed depends on.
set -eu
# shellcheck source=tests/install/root.sh
. "$(dirname "$0")/root.sh"
debs=$(realpath "$1") out=$(realpath "$2") results=$(realpath "$3")
home=/srv/user # of the ordinary user, in the root
trees=$home/.local/share/apbed

# as_user NAME COMMAND...: what an ordinary user's command prints goes to OUT/NAME and NAME.said.
# A test that runs in the background inherits that Ctrl-C is ignored; this user's terminal does not.
as_user() {
	name=$1
	shift
	inside setsid -w setpriv --reuid 4242 --regid 4242 --clear-groups env -i -C $home/study \
		--default-signal=INT \
		HOME=$home PATH=$home/stubs:/usr/bin:/bin LC_ALL=C.UTF-8 "$@" \
		> "$out/$name" 2> "$out/$name.said"
}

# Which files a tree consists of; a file that was written again has another number or time.
tree() {
	(cd "/mnt/root$trees" && find . ! -name '*.pyc' ! -name __pycache__ -type f \
		-printf '%P %i %T@ %m\n' | sort) > "$out/$1"
}

new_root "$debs"
depends=$(dpkg-deb -f "$debs"/apbed_*.deb Depends)
inside apt-get -q -s satisfy --no-install-recommends "$depends" > "$out/install.log" 2>&1
inside apt-get -q -y -d satisfy --no-install-recommends "$depends" >> "$out/install.log" 2>&1 ||
	exit 77
inside apt-get -q -y satisfy --no-install-recommends "$depends" >> "$out/install.log" 2>&1
listing "$out/before"
inside sh -c 'dpkg -i /mnt/apbed_*.deb' >> "$out/install.log" 2>&1
listing "$out/installed"
inside man -w apbed > "$out/man"

mkdir -p /mnt/root$home/study /mnt/root$home/stubs
cp -r "$results" /mnt/root$home/study/results
chown -R 4242:4242 /mnt/root$home

# Ctrl-C while half of the tree is there: cp, and who called it, get the signal.
cat > /mnt/root$home/stubs/cp << 'END'
#!/bin/sh
/usr/bin/cp "$@"
rm -r "$3/testbed"
find "${3%/*}" > ~/study/half
kill -INT 0
sleep 60
END
chmod +x /mnt/root$home/stubs/cp
status=0
as_user interrupted apbed --help || status=$?
echo "$status" > "$out/interrupted.status"
cp /mnt/root$home/study/half "$out/half"
(cd "/mnt/root$trees" && find . -mindepth 1) > "$out/interrupted.left"
rm /mnt/root$home/stubs/cp

as_user help apbed --help
tree first
as_user list apbed list
as_user runs apbed run demo --dry-run
as_user report apbed report results
as_user doctor apbed doctor --json || true
as_user setup "$trees/$(cat /mnt/root/usr/share/apbed/.packaged)/scripts/setup.sh"
as_user data env XDG_DATA_HOME=$home/data apbed list
tree second
(cd /mnt/root$home && find study data -maxdepth 2) > "$out/places"

echo 9.9 > /mnt/root/usr/share/apbed/.packaged
as_user upgraded apbed list
ls "/mnt/root$trees" > "$out/versions"

inside dpkg --purge apbed > "$out/purge.log" 2>&1
listing "$out/after"
