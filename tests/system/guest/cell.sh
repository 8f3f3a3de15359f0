#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Read by the scripts beside it: a Wi-Fi cell on the guest's two radios. The machine is the access
# point; a station and a wired host are namespaces. The laboratory's medium carries the frames.
share=/mnt out=/mnt/out
export DEBIAN_FRONTEND=noninteractive

said() { echo "$(cut -d' ' -f1 /proc/uptime) s: $*"; }

tool() { LD_LIBRARY_PATH=$share "$share/$1" "${@:2}"; }

in_netns() { ip netns exec "$1" env LD_LIBRARY_PATH=$share "${@:2}"; }

# cell: hostapd.service on wlan0, and a station that is connected to it.
cell() {
	local i

	uname -r > $out/release
	tool dcfmedium hwsim --phy hrdsss-11 > $out/medium.log 2>&1 &
	sleep 1
	systemctl start hostapd
	sysctl -qw net.ipv4.ip_forward=1
	ip address add 10.1.0.1/24 dev wlan0
	ip netns add wired
	ip link add wired0 type veth peer name eth0 netns wired
	ip address add 10.2.0.1/24 dev wired0
	ip link set wired0 up
	ip -n wired address add 10.2.0.2/24 dev eth0
	ip -n wired link set eth0 up
	ip -n wired route add default via 10.2.0.1
	ip netns add sta
	iw phy phy1 set netns name sta
	ip -n sta address add 10.1.0.11/24 dev wlan1
	ip -n sta link set wlan1 up
	in_netns sta iw dev wlan1 set power_save off
	# A scan that finds nothing ends the attempt, and nobody tries again.
	for ((i = 0; i < 60; i++)); do
		! in_netns sta iw dev wlan1 link | grep -q ^Connected || break
		((i % 10)) || in_netns sta iw dev wlan1 connect lab 2412 || true
		sleep 1
	done
	ip -n sta route add default via 10.1.0.1
	in_netns wired $share/flowgen serve --port 7001 > /dev/null &
	sleep 1
	# lasack-doctor's question for flowtables loads modules; so they are there in each boot.
	offload true
	said "the cell is up"
}

# offload COMMAND: beside a flowtable as of a router whose hardware forwards packets.
offload() {
	nft add table inet filter
	nft add flowtable inet filter fast '{ hook ingress priority 0; flags offload; }'
	"$@" || true
	nft delete table inet filter
}

# downloads SECONDS: four, forwarded to the station, in the background.
downloads() {
	local i

	for i in 1 2 3 4; do
		in_netns sta $share/flowgen run --id "d$i" --host 10.2.0.2 --port 7001 --dir down \
			--seconds "$1" >> $out/flows &
	done
}

# load NAME: downloads, and what a ping beside them sees.
load() {
	downloads 10
	sleep 4
	in_netns wired ping -n -c 20 -i 0.2 10.1.0.11 > "$out/ping-$1" || true
	tc -s -j qdisc show dev wlan0 > "$out/tc-$1"
	if command -v lasack-doctor > /dev/null; then
		lasack-doctor wlan0 > "$out/doctor-$1" 2>&1 || true
		lasack-top --once > "$out/top-$1" 2>&1 || true
	fi
	sleep 5
	said "loaded: $1"
}

# dependencies: what apt installs for the packages, and keeps when they are purged.
dependencies() {
	local names

	mapfile -t names < <(apt-get install -s $share/lasack*.deb |
		awk '/^Inst / && $2 !~ /^lasack-/ { print $2 }')
	said "apt install ${names[*]}"
	apt-get install -q -y "${names[@]}"
}

# add: the packages, with what they depend on unless it is there.
add() {
	cp $share/lasack*.deb /root
	said "apt install"
	(cd /root && apt-get install -q -y ./lasack*.deb)
	rm /root/lasack*.deb
	dkms status > $out/dkms
}

# typed LINE KEYS: as the user on a terminal, in the checkout; KEYS after a while.
typed() {
	said "\$ $1"
	{
		sleep 5
		printf '%s' "$2"
		sleep 1
	} | TERM=linux script -qefc "su - user -c 'cd lasack && $1'" /dev/null
}

# state NAME: files, settings and modules of the machine, to be compared. An initramfs has dates
# inside, so another number of bytes each time that it is made: what is in it, is compared.
state() {
	local image

	(cd / && find boot etc home opt root srv usr var/lib -xdev \
		\( -path home/user/lasack -o -path usr/src/linux-\* -o -path var/lib/systemd \
		-o -path var/lib/apt -o -path var/lib/dpkg \) -prune \
		-o \( -type d -o -path 'boot/initrd.img-*' \) -printf '/%p %y %m\n' \
		-o ! -path etc/ld.so.cache ! -path 'var/lib/dkms/mok.*' -printf '/%p %y %m %s %l\n' \
		| sort) > "$out/$1.files"
	for image in /boot/initrd.img-*; do
		lsinitramfs "$image" | sed "s,^,$image: ,"
	done >> "$out/$1.files"
	(cd / && find etc usr/lib/systemd usr/lib/udev -xdev -type f ! -path etc/ld.so.cache \
		-exec sha256sum {} + | sort -k 2) > "$out/$1.contents"
	dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' > "$out/$1.packages"
	systemctl list-unit-files --no-legend --no-pager | awk '{print $1, $2}' > "$out/$1.units"
	sysctl -a 2> /dev/null | grep -E '^net\.(core|ipv4\.tcp)' |
		grep -v '^net\.ipv4\.tcp_mem' | sort > "$out/$1.settings"
	# After sysctl -a, which makes systemd mount binfmt_misc, and so the kernel load it.
	lsmod | sed '1d;s/ .*//' | sort > "$out/$1.modules"
	tc qdisc show dev wlan0 > "$out/$1.qdiscs"
	said "state: $1"
}
