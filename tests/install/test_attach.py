# SPDX-License-Identifier: GPL-2.0-only
"""What puts lasack on a device that comes up: the script, and who calls it, in a lab kernel.

The machine's root is the guest's, read-only, so the script is called in the tree. The hooks are
copies that name it there; of udev's rule the command is run, by no udevd.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGING = REPOSITORY / "packaging"

ATTACH = """\
set -e
make -s -C {tree} install DESTDIR=/run/root KDIR={kdir} ARCH=um
depmod -b /run/root
printf '#!/bin/sh\\nexec modprobe -d /run/root "$@"\\n' > /run/modprobe
chmod +x /run/modprobe
echo /run/modprobe > /proc/sys/kernel/modprobe
export TC_LIB_DIR=$(echo /run/root/usr/lib/*/tc)
export LASACK_SETTINGS=/run/settings
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
attach={tree}/packaging/attach/attach
# kinds DEVICE: what is at its root.
root() {{
    shown=$(tc qdisc show dev $2 root | cut -d' ' -f2-3)
    echo "$1 $2 ${{shown:-none}}" >> roots
}}
insmod {hwsim} radios=4
printf 'interface=wlan0\\nssid=lab\\nhw_mode=b\\nchannel=1\\n' > /run/hostapd.conf

# As the drop-in of hostapd.service does it. A station is none of its business.
ip link set wlan1 up
root before wlan0
hostapd -B /run/hostapd.conf > hostapd.log
$attach --all
root hostapd wlan0
root hostapd wlan1
lsmod | grep -c ^sch_lasack >> roots

# What somebody has chosen stays, and comes back to lasack only by their own word.
tc qdisc replace dev wlan0 root handle 5: fq_codel
$attach --all
$attach wlan0
root chosen wlan0
tc qdisc del dev wlan0 root
echo 'OPTIONS="limit 77"' > /run/settings
$attach --if-wanted wlan0
tc qdisc show dev wlan0 root | grep -o 'limit 77p*' >> roots
$attach wlan1
$attach --detach wlan0
root detached wlan0
root kept wlan1
$attach --detach
root detached wlan1

# A unit that is stopped takes nothing away but lasack.
stop=$(sed -n 's/^ExecStop=-//p' {tree}/packaging/systemd/lasack@.service)
stop=$(echo "$stop" | sed "s,/usr/libexec/lasack/attach,$attach,;s,%I,wlan0,")
tc qdisc replace dev wlan0 root handle 5: fq_codel
$stop
root chosen wlan0
tc qdisc del dev wlan0 root

# Settings.
echo 'DEVICES=none' > /run/settings
$attach --all
root none wlan0
echo 'DEVICES="wlan1 wlan9"' > /run/settings
$attach --all
root named wlan0
root named wlan1
rm /run/settings

# A device given away and made again, as an access point from the beginning.
# This machine may have no udevd: what the rule says to run is run.
said=$(sed -n 's/.*RUN+="\\(.*\\)"/\\1/p' {tree}/packaging/systemd/90-lasack.rules)
for round in 1 2; do
    iw phy phy2 interface add ap2 type __ap
    iw phy phy2 interface add sta2 type managed
    for name in ap2 sta2; do
        eval "$(echo "$said" | sed "s,/usr/libexec/lasack/attach,$attach,")"
        ip link set $name up || true
        root udev$round $name
    done
    iw dev ap2 del
    iw dev sta2 del
done
# A VLAN of an access point, as hostapd makes it.
iw dev wlan0 interface add wlan0.7 type __ap_vlan
name=wlan0.7
eval "$(echo "$said" | sed "s,/usr/libexec/lasack/attach,$attach,")"
ip link set wlan0.7 up
root vlan wlan0.7

# The kernel's own default is not taken away, as it cannot be, and keeps nobody else's.
sysctl -q net.core.default_qdisc=lasack
ip tuntap add dev first0 mode tap
ip link set first0 up
root default first0
$attach --detach
root default first0
root detached wlan0.7
sysctl -q net.core.default_qdisc=pfifo_fast
ip link del first0

# One device that refuses its options keeps no other from them.
tc qdisc del dev wlan0 root 2>/dev/null || true
tc qdisc del dev wlan1 root 2>/dev/null || true
mkdir -p /run/bin
printf '#!/bin/sh\ncase "$*" in *"replace dev wlan0 "*) exit 2;; esac\nexec %s "$@"\n' \
    "$(command -v tc)" > /run/bin/tc
chmod +x /run/bin/tc
echo 'DEVICES="wlan0 wlan1"' > /run/settings
PATH=/run/bin:$PATH $attach --all && exit 1
rm /run/settings
root refused wlan0
root others wlan1
$attach --detach

# NetworkManager's and ifupdown's words.
$attach --detach
for hook in dispatcher if-up; do
    sed "s,/usr/libexec/lasack/attach,$attach," {tree}/packaging/attach/$hook > /run/$hook
    chmod +x /run/$hook
done
/run/dispatcher wlan0 down
IFACE=lo /run/if-up
root idle wlan0
/run/dispatcher wlan0 up
root dispatcher wlan0
$attach --detach
IFACE=wlan0 /run/if-up
root ifupdown wlan0
# What is left of a package that is gone, and a device that fails, are no errors of ifup.
sed 's,/usr/libexec/lasack/attach,/nonexistent,' {tree}/packaging/attach/if-up > /run/left
sed 's,/usr/libexec/lasack/attach,/bin/false,' {tree}/packaging/attach/if-up > /run/failing
IFACE=wlan0 sh -e /run/left
IFACE=wlan0 sh -e /run/failing
$attach && exit 1 || echo $? >> roots
"""

FOUND = """\
before wlan0 none
hostapd wlan0 lasack 8001:
hostapd wlan1 mq 0:
1
chosen wlan0 fq_codel 5:
limit 77p
detached wlan0 mq 0:
kept wlan1 lasack 8003:
detached wlan1 mq 0:
chosen wlan0 fq_codel 5:
none wlan0 mq 0:
named wlan0 mq 0:
named wlan1 lasack 8004:
udev1 ap2 lasack 8005:
udev1 sta2 mq 0:
udev2 ap2 lasack 8006:
udev2 sta2 mq 0:
vlan wlan0.7 lasack 8007:
default first0 lasack 0:
default first0 lasack 0:
detached wlan0.7 mq 0:
refused wlan0 mq 0:
others wlan1 lasack 8008:
idle wlan0 mq 0:
dispatcher wlan0 lasack 8009:
ifupdown wlan0 lasack 800a:
2
"""


def test_attach(lab_kernel: LabKernel, tmp_path: Path) -> None:
    script = ATTACH.format(tree=REPOSITORY, kdir=lab_kernel.build_dir, hwsim=lab_kernel.hwsim)
    console = tmp_path / "console.log"
    guest = lab.Guest(lab_kernel, ["sh", "-c", script], tmp_path, workdir=tmp_path, console=console)
    result = lab.boot(guest, Watchdog(limit_s=60))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    assert (tmp_path / "roots").read_text() == FOUND


def test_units_are_clean(tmp_path: Path) -> None:
    """What systemd says of the unit and of the drop-in, where the programs they name exist."""
    programs = tmp_path / "usr" / "libexec" / "lasack"
    units = tmp_path / "usr" / "lib" / "systemd" / "system"
    programs.mkdir(parents=True)
    (units / "hostapd.service.d").mkdir(parents=True)
    for place in (programs / "attach", tmp_path / "usr" / "bin" / "tc"):
        place.parent.mkdir(exist_ok=True)
        place.write_text("#!/bin/sh\n")
        place.chmod(0o755)
    unit = (PACKAGING / "systemd" / "lasack@.service").read_text()
    (units / "lasack@wlan0.service").write_text(unit)
    (units / "hostapd.service").write_text("[Service]\nExecStart=/usr/bin/tc\n")
    drop_in = (PACKAGING / "systemd" / "hostapd.conf").read_text()
    (units / "hostapd.service.d" / "lasack.conf").write_text(drop_in)
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no"]
    command += [f"--root={tmp_path}", "lasack@wlan0.service", "hostapd.service"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
