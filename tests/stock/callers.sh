#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's own udevd and ifupdown call the script that attaches lasack, where the packages put it.
# In a guest whose root is the host's, written in memory: callers.sh TREE CALLERS
set -e
tree=$1
callers=$2

root() {
	shown=$(TC_LIB_DIR=$tree/build/tc tc qdisc show dev "$2" root | cut -d' ' -f2)
	echo "$1 $2 ${shown:-none}"
}

mkdir -p /usr/libexec/lasack /etc/network/if-up.d /usr/lib/udev/rules.d
# Neither caller passes its environment on.
printf '#!/bin/sh\nexport TC_LIB_DIR=%s\nexec %s "$@"\n' \
	"$tree/build/tc" "$tree/packaging/attach/attach" > /usr/libexec/lasack/attach
chmod +x /usr/libexec/lasack/attach
cp "$callers"/lib/udev/rules.d/* "$tree"/packaging/systemd/90-lasack.rules /usr/lib/udev/rules.d
cp "$tree"/packaging/attach/if-up /etc/network/if-up.d/lasack
ln -sf "$callers"/bin/udevadm /run/systemd-udevd
export LD_LIBRARY_PATH="$callers/lib/x86_64-linux-gnu:$callers/usr/lib/x86_64-linux-gnu"
modprobe mac80211_hwsim radios=2

/run/systemd-udevd --daemon
for round in 1 2; do
	iw phy phy0 interface add ap0 type __ap
	iw phy phy0 interface add sta0 type managed
	"$callers"/bin/udevadm settle --timeout=60
	ip link set ap0 up || true # a second device of a type may be refused
	ip link set sta0 up || true
	root "udevd$round" ap0
	root "udevd$round" sta0
	iw dev ap0 del
	iw dev sta0 del
done

printf 'iface wlan1 inet manual\niface lo inet loopback\n' > /run/interfaces
iw dev wlan1 set type __ap
root before wlan1
for name in lo wlan1; do
	"$callers"/sbin/ifup -i /run/interfaces --state-dir=/run/network "$name"
done
root ifupdown wlan1
