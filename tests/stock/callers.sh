#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's own udevd, ifupdown and NetworkManager call the script that attaches lasack, from where
# the packages put it. In a guest whose root is the host's, written in memory:
# callers.sh TREE CALLERS, where their packages are unpacked.
set -e
tree=$1
callers=$2

root() {
	shown=$(TC_LIB_DIR=$tree/build/tc tc qdisc show dev "$2" root | cut -d' ' -f2)
	echo "root $1 $2 ${shown:-none}"
}

# Waits for it, a minute at most.
root_is() {
	tries=60
	while [ "$tries" -gt 0 ] && ! root "$1" "$2" | grep -q " $3\$"; do
		sleep 1
		tries=$((tries - 1))
	done
	root "$1" "$2"
}

for part in etc usr var; do cp -a "$callers/$part/." "/$part"; done
for part in bin sbin lib; do cp -a "$callers/$part/." "/usr/$part"; done
ldconfig
libexec=/usr/libexec/lasack
dispatcher=/usr/lib/NetworkManager/dispatcher.d
mkdir -p $libexec $dispatcher /run/dbus
# None of them passes its environment on.
printf '#!/bin/sh\nexport TC_LIB_DIR=%s\nexec %s "$@"\n' \
	"$tree/build/tc" "$tree/packaging/attach/attach" > $libexec/attach
chmod +x $libexec/attach
cp "$tree"/packaging/systemd/90-lasack.rules /usr/lib/udev/rules.d
cp "$tree"/packaging/attach/if-up /etc/network/if-up.d/lasack
cp "$tree"/packaging/attach/dispatcher $dispatcher/50-lasack
modprobe mac80211_hwsim radios=3

/lib/systemd/systemd-udevd --daemon
udevadm trigger
udevadm settle --timeout=120
for round in 1 2; do
	iw phy phy0 interface add ap0 type __ap
	iw phy phy0 interface add sta0 type managed
	udevadm settle --timeout=60
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
for name in lo wlan1; do ifup -i /run/interfaces --state-dir=/run/network "$name"; done
root ifupdown wlan1

# A hotspot. Debian's NetworkManager also runs the scripts of ifupdown.
rm /etc/network/if-up.d/lasack
dbus-daemon --system --fork
wpa_supplicant -u -B -s
NetworkManager
nm-online -s -q -t 60 || true # nothing is connected yet
nmcli connection add type wifi ifname wlan2 con-name hotspot autoconnect no mode ap ssid lab \
	wifi.band bg wifi.channel 1 ipv4.method disabled ipv6.method disabled
root_is managed wlan2 mq # NetworkManager has brought it up, as a station
nmcli --wait 60 connection up hotspot
root_is NetworkManager wlan2 lasack # the dispatcher runs when nmcli has come back
