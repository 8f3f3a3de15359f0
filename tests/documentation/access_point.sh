#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A Wi-Fi access point in a lab kernel, with one station and traffic, on which
# the commands of a guide are run as an operator would, after `make install`.
#
#   access_point.sh TREE KDIR HWSIM SCRIPT
set -e
tree=$1 kdir=$2 hwsim=$3 script=$4

make -s -C "$tree" install DESTDIR=/run/root KDIR="$kdir" ARCH=um
# The host's root is read-only: what is installed lies beside it.
depmod -b /run/root
mkdir -p /run/bin
printf '#!/bin/sh\nexec /sbin/modprobe -d /run/root "$@"\n' > /run/bin/modprobe
printf '#!/bin/sh\nexec "$@"\n' > /run/bin/sudo
printf '#!/bin/sh\nexec /sbin/modinfo -b /run/root "$@"\n' > /run/bin/modinfo
chmod +x /run/bin/*
echo /run/bin/modprobe > /proc/sys/kernel/modprobe
export PATH="/run/bin:/run/root/usr/local/bin:$PATH"
TC_LIB_DIR=$(echo /run/root/usr/lib/*/tc)
export TC_LIB_DIR
export LASACK_SETTINGS=/run/settings

sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
insmod "$hwsim" radios=2
"$tree/build/bin/dcfmedium" hwsim --phy hrdsss-11 > medium.log &
sleep 0.1
printf 'interface=wlan0\nssid=lab\nhw_mode=b\nchannel=1\n' > /run/hostapd.conf
hostapd -B /run/hostapd.conf > hostapd.log
ip address add 10.1.0.1/24 dev wlan0
ip netns add sta
iw phy phy1 set netns name sta
ip netns exec sta ip address add 10.1.0.11/24 dev wlan1
ip netns exec sta ip link set wlan1 up
ip netns exec sta iw dev wlan1 set power_save off
ip netns exec sta iw dev wlan1 connect -w lab 2412 > connect.log
sleep 1
# One download and one upload, until the machine ends.
flowgen serve --port 7001 --out served.log &
for dir in down up; do
	ip netns exec sta flowgen run --id $dir --host 10.1.0.1 --port 7001 --dir $dir \
		--seconds 100000 --out $dir.log &
done
sleep 2

set -x
cd /run
# shellcheck disable=SC1090 # written by the test
. "$script"
