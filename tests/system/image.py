# SPDX-License-Identifier: GPL-2.0-only
"""Root file systems of clean Debian systems, made once by mmdebstrap and kept.

Principle: the system is what Debian's own packages make of an empty directory: a kernel, what an
access point runs, and no compiler. It boots without a network, so what apt installs later lies in
two repositories on the disk: what packages need, and a newer kernel. Packages come from the mirror
that this machine uses; nothing here names one.
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

# What an access point has before anybody thinks of lasack.
PACKAGES = (
    *("systemd-sysv", "udev", "dbus", "kmod", "sudo", "procps", "initramfs-tools"),
    *("iproute2", "iputils-ping", "iw", "hostapd", "nftables", "wireless-regdb", "ifupdown"),
    "linux-image-amd64",
)
# What its repository has: what lasack-dkms asks for, and what the README has an operator install.
LATER = (
    *("dkms", "linux-headers-amd64", "make", "gcc", "libc6-dev", "pkgconf"),
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
printf 'interface=wlan0\\nssid=lab\\nhw_mode=b\\nchannel=1\\n' > "$root/etc/hostapd/hostapd.conf"
# Masked until it has this file. Not started at boot, where the unit is to do it alone.
chroot "$root" systemctl unmask hostapd
chroot "$root" systemctl disable hostapd
export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
# Neither the processor's variants nor debugging symbols.
newest=$(apt-cache search --names-only "^linux-image-$LINE[.][0-9.]*[+~a-z0-9]*-amd64$" |
	cut -d' ' -f1 | sort -V | tail -n 1)
# download FOLDER WORDS: what apt would install, and is not downloaded yet.
download() {{
	mkdir "$root/srv/$1"
	apt-get -q -y --no-install-recommends --download-only install "${{@:2}}"
	for package in "$root"/var/cache/apt/archives/*.deb; do
		# As in an archive, without the epoch.
		name=$(basename "$package" | sed 's/_[0-9]*%3a/_/')
		[ -e "$root/srv/packages/$name" ] || cp "$package" "$root/srv/$1/$name"
	done
}}
apt-get clean
download packages {" ".join(LATER)}
download update -t "$UPDATE" "$newest" "linux-headers-${{newest#linux-image-}}"
for part in packages update; do
	(cd "$root/srv/$part" && dpkg-scanpackages -m . > Packages)
done
"""
SOURCE = "deb [trusted=yes] file:/srv/packages ./\n"


@dataclass(frozen=True)
class Release:
    """A release of Debian, the suite that has newer kernels for it, and the line of the newer."""

    suite: str
    update: str
    line: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The suites that its packages come from."""
        return (self.suite, self.update)


# trixie-backports is beyond 7.2 already, but keeps it.
RELEASES = {
    "12": Release("bookworm", "bookworm-backports", "6.12"),
    "13": Release("trixie", "trixie-backports", "7.2"),
}


def disk(release: Release) -> Path:
    """The disk of a clean system, made now unless it is in the cache."""
    content = [*release.sources, release.line, *PACKAGES, UNIT, DRIVERS, CUSTOMIZE, SOURCE]
    content.append(str(SIZE_MB))
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
            "LINE": release.line,
            "UPDATE": release.update,
        }
        words = [str(scratch / "tool/usr/bin/mmdebstrap"), "--variant=minbase", "--mode=root"]
        words += [f"--include={','.join(PACKAGES)}"]
        words += [f'--customize-hook=bash {hook} "$1"', release.suite, str(root), *sources]
        environment = [f"{key}={value}" for key, value in settings.items()]
        _run(["env", *environment, *words], directory / "log")
        # What it was made from is this machine's business.
        for path in (root / "etc/apt/sources.list.d").glob("*"):
            path.unlink()
        (root / "etc/apt/sources.list").write_text(SOURCE)
        for command in (["apt-get", "update"], ["systemd-machine-id-setup"]):
            _run(["chroot", str(root), *command], directory / "log")
        image = directory / "disk"
        with image.open("wb") as sink:
            sink.truncate(SIZE_MB << 20)
        _run(["/sbin/mkfs.ext4", "-q", "-F", "-d", str(root), str(image)], directory / "log")


def _run(words: list[str], log: Path) -> None:
    """Run a command, its output to a log; ApbedError with its first error if it fails."""
    with log.open("ab") as sink:
        done = subprocess.run(words, stdout=sink, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        said = log.read_text(errors="replace").strip().splitlines() or ["no message"]
        errors = [line for line in said if line.startswith(("E: ", "dpkg: error"))]
        raise ApbedError(f"{words[0]} failed: {(errors or said[-1:])[0]}")
