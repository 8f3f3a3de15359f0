# SPDX-License-Identifier: GPL-2.0-only
"""make install: into a staging directory, refused with one line, and used in a lab kernel."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

REPOSITORY = Path(__file__).resolve().parents[2]
EVERYWHERE = {"inflight", "sch_inflight", "sch_lasack", "sch_ackwrr"}
MODULES = EVERYWHERE | {"tcp_ackskip"}  # which ARCH=um has not

# The kernel itself loads the module, tc the plugin, and the tool is in the PATH.
USE = """\
set -e
make -C {tree} install DESTDIR=/run/root KDIR={kdir} ARCH=um
depmod -b /run/root
printf '#!/bin/sh\nexec modprobe -d /run/root "$@"\n' > /run/modprobe
chmod +x /run/modprobe
echo /run/modprobe > /proc/sys/kernel/modprobe
export PATH=/run/root/usr/local/bin:$PATH
export TC_LIB_DIR=$(echo /run/root/usr/lib/*/tc)
ip link add dev0 type dummy
for kind in lasack inflight ackwrr; do
    tc qdisc replace dev dev0 root $kind
    tc qdisc show dev dev0
    [ $kind != lasack ] || lasack-top --once
done
"""


def make(*words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    if path:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    command = ["make", "--no-print-directory", *words]
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )


def files_below(top: Path) -> dict[str, int]:
    """The permissions of each file, by its path."""
    found = [path for path in top.rglob("*") if path.is_file()]
    return {str(path.relative_to(top)): path.stat().st_mode & 0o777 for path in found}


def test_install_and_uninstall(lab_kernel: LabKernel, tmp_path: Path) -> None:
    place = [f"DESTDIR={tmp_path}", f"KDIR={lab_kernel.build_dir}", "ARCH=um", "PREFIX=/opt/x"]
    done = make("install", *place)
    assert done.returncode == 0, done.stderr
    found = files_below(tmp_path)
    modules = f"lib/modules/{lab_kernel.release}/extra/lasack"
    assert {name for name in found if name.startswith("lib/")} == {
        f"{modules}/{name}.ko" for name in EVERYWHERE
    }
    names = ("lasack-top", "lasack-doctor", "flowgen", "dcfmedium")
    tools = {f"opt/x/bin/{name}" for name in names}
    assert {name for name, mode in found.items() if mode == 0o755} == tools
    assert set(found.values()) == {0o755, 0o644}
    assert "opt/x/share/man/man8/lasack-top.8" in found
    assert "opt/x/share/man/man8/lasack-doctor.8" in found
    assert "opt/x/share/man/man8/tc-lasack.8" in found
    assert "etc/bash_completion.d/lasack" in found
    assert sum(name.endswith("/tc/q_lasack.so") for name in found) == 1

    (tmp_path / modules / "other.ko").write_text("not ours")
    assert make("uninstall", *place).returncode == 0
    assert list(files_below(tmp_path)) == [f"{modules}/other.ko"]
    for folder in ("opt/x/share/man/man8", "etc/bash_completion.d"):
        assert not (tmp_path / folder).exists()


def test_every_module_is_installed() -> None:
    """By make install as by DKMS: what kernel/Kbuild builds, but for the tests."""
    kbuild = (REPOSITORY / "kernel" / "Kbuild").read_text()
    lines = re.findall(r"^obj-m \+= (.*)", kbuild, re.MULTILINE)
    names = [name for line in lines for name in line.split() if not name.endswith("/")]
    built = {name.removesuffix(".o") for name in names}
    dkms = (REPOSITORY / "kernel" / "dkms.conf").read_text()
    assert set(re.findall(r'BUILT_MODULE_NAME\[\d\]="(\w+)"', dkms)) == built == MODULES
    assert len(re.findall("DEST_MODULE_LOCATION", dkms)) == len(built)


def test_without_modules(tmp_path: Path) -> None:
    done = make("install", f"DESTDIR={tmp_path}", "KDIR=/nonexistent", "MODULES=no")
    assert done.returncode == 0, done.stderr
    found = files_below(tmp_path)
    assert "usr/local/bin/lasack-top" in found
    assert not [name for name in found if name.endswith(".ko")]


def test_one_line_when_not_built(tmp_path: Path) -> None:
    release = tmp_path / "include" / "generated" / "utsrelease.h"
    release.parent.mkdir(parents=True)
    release.write_text('#define UTS_RELEASE "0.0.1-none"\n')
    stage = tmp_path / "stage"
    done = make("install", f"DESTDIR={stage}", f"KDIR={tmp_path}")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == (
        "install: no build/modules/0.0.1-none-x86_64/inflight.ko yet: "
        f"make -C kernel KDIR={tmp_path} ARCH=x86_64"
    )
    assert not stage.exists()


def test_uninstall_needs_no_compiler_and_no_headers(tmp_path: Path) -> None:
    """The modules of kernels that were replaced since go, and plugins wherever they are."""
    ours = [
        "lib/modules/6.1.0-1-amd64/extra/lasack/sch_lasack.ko",
        "lib/modules/6.1.0-2-amd64/extra/lasack/inflight.ko",
        "usr/lib/tc/q_lasack.so",
        "usr/lib/strange-machine/tc/q_ackwrr.so",
    ]
    theirs = [
        "lib/modules/6.1.0-1-amd64/extra/other/sch_lasack.ko",
        "usr/lib/tc/q_other.so",
        "opt/my",
    ]
    stage = tmp_path / "a stage"
    for name in ours + theirs:
        (stage / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).write_text("")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("gcc", "dpkg-architecture"):
        (programs / name).write_text("#!/bin/sh\nexit 127\n")
        (programs / name).chmod(0o755)
    done = make("uninstall", f"DESTDIR={stage}", "KDIR=/nonexistent", path=programs)
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "uninstall: 4 files"), done.stderr
    assert sorted(files_below(stage)) == sorted(theirs)
    assert not (stage / "lib/modules/6.1.0-2-amd64/extra").exists()


@pytest.mark.parametrize("target", ["install", "uninstall"])
@pytest.mark.parametrize("prefix", ["/opt/my tools", "opt"])
def test_a_prefix_that_cannot_be(tmp_path: Path, target: str, prefix: str) -> None:
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "my").write_text("somebody's")
    done = make(target, f"DESTDIR={tmp_path}", f"PREFIX={prefix}", "MODULES=no")
    assert done.returncode != 0
    assert done.stderr.startswith(f"{target}: PREFIX={prefix}: expected a path ")
    assert list(files_below(tmp_path)) == ["opt/my"]


def test_the_machines_name_is_the_kernels(tmp_path: Path) -> None:
    """kernel/Makefile and install.sh alike: which ARCH a machine's modules are built for."""
    known = {"x86_64": "x86_64", "aarch64": "arm64", "armv7l": "arm", "mips64": "mips"}
    known |= {"i686": "i386", "ppc64le": "powerpc", "riscv64": "riscv"}
    release = tmp_path / "include" / "generated" / "utsrelease.h"
    release.parent.mkdir(parents=True)
    release.write_text('#define UTS_RELEASE "0.0.1-none"\n')
    fake = tmp_path / "uname"
    fake.write_text('#!/bin/sh\n[ "$*" = -m ] && echo "$MACHINE" || exec /usr/bin/uname "$@"\n')
    fake.chmod(0o755)
    for machine, arch in known.items():
        environment = os.environ | {"MACHINE": machine, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        environment.pop("ARCH", None)
        show = ["--eval=show: ; @echo $(ARCH)", "show"]
        command = ["make", "-s", "--no-print-directory", "-C", "kernel", f"KDIR={tmp_path}", *show]
        dry = subprocess.run(
            command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True
        )
        assert dry.stdout == f"{arch}\n"
        command = ["scripts/install.sh", "install"]
        environment |= {"KDIR": str(tmp_path), "DESTDIR": str(tmp_path / "stage")}
        done = subprocess.run(
            command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
        )
        assert f"build/modules/0.0.1-none-{arch}/" in done.stderr, machine


@pytest.mark.parametrize("target", ["install", "uninstall"])
def test_one_line_when_not_root(tmp_path: Path, target: str) -> None:
    fake = tmp_path / "id"
    fake.write_text("#!/bin/sh\necho 1000\n")
    fake.chmod(0o755)
    done = make(target, "DESTDIR=", path=tmp_path)
    assert done.returncode != 0
    said = f"{target}: not root: sudo make {target}, or make {target} DESTDIR=DIR"
    assert done.stderr.splitlines()[0] == said


def test_no_kernel_headers(tmp_path: Path) -> None:
    done = make("install", f"DESTDIR={tmp_path}/stage", f"KDIR={tmp_path}")
    said = f"install: KDIR={tmp_path} is no prepared kernel tree: install this kernel's headers"
    assert done.returncode != 0 and done.stderr.splitlines()[0] == said


def test_installed_modules_and_plugins_are_found(lab_kernel: LabKernel, tmp_path: Path) -> None:
    script = USE.format(tree=REPOSITORY, kdir=lab_kernel.build_dir)
    console = tmp_path / "console.log"
    guest = lab.Guest(lab_kernel, ["sh", "-c", script], tmp_path, console=console)
    result = lab.boot(guest, Watchdog(limit_s=60))
    said = console.read_text()
    assert result.status == 0, f"{result.why}: {said}"
    for shown in ("qdisc lasack 8001: root", "dev0, lasack 8001: root", "qdisc ackwrr 8003: root"):
        assert shown in said
