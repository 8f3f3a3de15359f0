# SPDX-License-Identifier: GPL-2.0-only
"""Root file systems of clean Debian systems, made once by mmdebstrap and kept.

Principle: the system is what Debian's own packages make of an empty directory, with the kernel, its
headers and the compiler that DKMS needs. It boots without a network, so the packages of a newer
kernel wait in /srv/update, as apt would have downloaded them. Packages come from the mirror that
this machine uses; nothing here names one.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels.cache import locked, whole
from apbed.kernels.packages import Apt, cache_root, codename, suite_sources

# What an operator's machine has, and what the README's operator section installs.
PACKAGES = (
    *("systemd-sysv", "udev", "dbus", "kmod", "sudo", "procps", "initramfs-tools"),
    *("iproute2", "iputils-ping", "iw", "hostapd", "nftables", "wireless-regdb", "ifupdown"),
    *("linux-image-amd64", "linux-headers-amd64", "dkms", "make", "gcc", "pkgconf"),
    *("libnl-3-dev", "libnl-genl-3-dev", "libncurses-dev"),
)
SIZE_MB = 4096  # of the disk; most of it is a hole
USER = "user"

# What a boot does is a script on a share, whose end is the machine's.
UNIT = """\
[Unit]
After=network.target systemd-modules-load.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share /mnt; \
bash /mnt/phase > /mnt/log 2>&1; echo $? > /mnt/status; sync; systemctl --no-block poweroff'
"""
# Of the guest's own initramfs, only what finds the disk.
DRIVERS = "virtio_pci\nvirtio_blk\next4\n"
CUSTOMIZE = f"""\
set -eu
root=$1
chroot "$root" useradd -m -s /bin/bash {USER}
echo '{USER} ALL=(ALL) NOPASSWD: ALL' > "$root/etc/sudoers.d/{USER}"
echo mac80211_hwsim > "$root/etc/modules-load.d/hwsim.conf"
echo lasack > "$root/etc/hostname"
echo 127.0.1.1 lasack > "$root/etc/hosts"
cp "$UNIT" "$root/etc/systemd/system/phase.service"
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../phase.service "$root/etc/systemd/system/multi-user.target.wants"
sed -i s/MODULES=most/MODULES=list/ "$root/etc/initramfs-tools/initramfs.conf"
cat "$DRIVERS" >> "$root/etc/initramfs-tools/modules"
chroot "$root" update-initramfs -u
export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
apt-get -q -y --no-install-recommends --download-only -t "$UPDATE" \\
	install linux-image-amd64 linux-headers-amd64
mkdir "$root/srv/update"
mv "$root"/var/cache/apt/archives/*.deb "$root/srv/update"
"""


@dataclass(frozen=True)
class Release:
    """A release of Debian, and the suite that has a newer kernel for it."""

    suite: str
    update: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The suites that its packages come from."""
        return (self.suite, self.update)


RELEASES = {
    "12": Release("bookworm", "bookworm-backports"),
}


def disk(release: Release) -> Path:
    """The disk of a clean system, made now unless it is in the cache."""
    content = [release.suite, release.update, *PACKAGES, UNIT, DRIVERS, CUSTOMIZE, str(SIZE_MB)]
    key = hashlib.sha256("\0".join(content).encode()).hexdigest()[:12]
    final = cache_root() / "systems" / f"{release.suite}-{key}"
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(f"system-{release.suite}"):
        if not final.exists():
            with whole(final) as directory:
                _make(release, directory)
    return final / "disk"


def _make(release: Release, directory: Path) -> None:
    # Not below the cache: mmdebstrap wants every folder above its root to be open to apt's user.
    with tempfile.TemporaryDirectory(prefix="system-") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        Apt("this system").unpack(["mmdebstrap"], scratch / "tool")
        root, hook = scratch / "root", scratch / "customize"
        for file, text in (("unit", UNIT), ("drivers", DRIVERS), ("customize", CUSTOMIZE)):
            (scratch / file).write_text(text)
        sources = []
        for suite in release.sources:
            source = scratch / f"{suite}.sources"
            source.write_text(suite_sources(suite, codename()))
            sources.append(str(source))
        settings = {
            "UNIT": scratch / "unit",
            "DRIVERS": scratch / "drivers",
            "UPDATE": release.update,
        }
        words = [str(scratch / "tool/usr/bin/mmdebstrap"), "--variant=minbase", "--mode=root"]
        words += [f"--include={','.join(PACKAGES)}"]
        words += [f'--customize-hook=sh {hook} "$1"', release.suite, str(root), *sources]
        environment = [f"{key}={value}" for key, value in settings.items()]
        _run(["env", *environment, *words], directory / "log")
        # What it was made from is this machine's business.
        for path in (root / "etc/apt/sources.list.d").glob("*"):
            path.unlink()
        (root / "etc/apt/sources.list").write_text("")
        image = directory / "disk"
        with image.open("wb") as sink:
            sink.truncate(SIZE_MB << 20)
        _run(["/sbin/mkfs.ext4", "-q", "-F", "-d", str(root), str(image)], directory / "log")
        for name in ("vmlinuz", "initrd.img"):
            (found,) = (root / "boot").glob(f"{name}-*")
            (directory / name).write_bytes(found.read_bytes())


def _run(words: list[str], log: Path) -> None:
    """Run a command, its output to a log; ApbedError with its last line if it fails."""
    with log.open("ab") as sink:
        done = subprocess.run(words, stdout=sink, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        last = (log.read_text(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise ApbedError(f"{words[0]} failed: {last}")
