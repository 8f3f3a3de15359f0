# SPDX-License-Identifier: GPL-2.0-only
"""Stock kernels in QEMU: what is started, what the guest gets, and how its ends are told apart."""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from apbed.checkout import GUEST, PACKAGE
from apbed.cli import main
from apbed.errors import ApbedError
from apbed.kernels import compiler, distro, kvm, packages, qemu, ram_disk
from apbed.kernels.distro import DistroKernel
from apbed.kernels.ram_disk import RamGuest
from apbed.run import machines

# As Linux 6.1 prints them (kernel/panic.c, mm/oom_kill.c, init/initramfs.c).
PANIC = "[    9.1] Kernel panic - not syncing: sysrq triggered crash\n[    9.2] CPU: 0 PID: 1\n"
MEMORY = (
    "[   11.0] Kernel panic - not syncing: Out of memory: system-wide panic_on_oom is enabled\n"
)
DEADLOCK = "[   11.0] Kernel panic - not syncing: System is deadlocked on memory\n"
SMALL = (
    "[    0.9] Initramfs unpacking failed: write error\n"
    "[    1.0] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\n"
)


@pytest.mark.parametrize("console", [MEMORY, DEADLOCK, SMALL])
@pytest.mark.parametrize("stopped", [None, "no progress for 240 s of processor time"])
def test_out_of_memory_is_neither_a_panic_nor_a_time_out(console: str, stopped: str | None) -> None:
    why = qemu.why_ended(console, "", stopped, 64)
    assert why == "the guest ran out of memory (64 MiB)"


def test_a_panic_has_its_reason() -> None:
    why = qemu.why_ended(PANIC, "", None, 1024)
    assert why == "the guest's kernel panicked: Kernel panic - not syncing: sysrq triggered crash"


def test_a_time_out_has_its_limit_and_the_guests_last_line() -> None:
    why = qemu.why_ended("[ 3.0] booting\n\n", "", "not done after 5 s of processor time", 1024)
    assert why.startswith("time-out: not done after 5 s")
    assert why.endswith("last line: [ 3.0] booting")


def test_qemu_that_does_not_start_says_why() -> None:
    said = "qemu-system-x86_64: could not load kernel 'vmlinuz'\n"
    assert qemu.why_ended("", said, None, 1024).endswith("could not load kernel 'vmlinuz'")


def test_one_processor_counts_instructions_and_two_do_not() -> None:
    assert "shift=0,sleep=off" in qemu.machine(1, 512)
    assert "-icount" not in qemu.machine(2, 512)


def test_a_shared_directory_may_have_a_comma() -> None:
    words = qemu.share(1, Path("/a,b"), "out", writable=True)
    assert "path=/a,,b," in words[1]
    assert "readonly" not in words[1]
    assert words[3] == "virtio-9p-pci,fsdev=share1,mount_tag=out"
    assert qemu.share(0, Path("/"), "host", writable=False)[1].endswith(",readonly=on")


def test_no_emulator_is_one_line_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ApbedError, match="install qemu-system-x86"):
        qemu.find()


def module(*needed: str) -> bytes:
    """What modinfo reads of a module."""
    return b"\x7fELF\0license=GPL\0depends=" + ",".join(needed).encode() + b"\0name=x\0"


def fake_kernel(root: Path, release: str = "6.1.0-1-amd64") -> DistroKernel:
    """hwsim above mac80211, which is compressed and above cfg80211; an image and headers."""
    modules = root / "lib/modules" / release / "kernel"
    (modules / "net").mkdir(parents=True)
    (modules / "net/mac80211-hwsim.ko").write_bytes(module("mac80211"))
    (modules / "net/mac80211.ko.xz").write_bytes(lzma.compress(module("cfg80211")))
    (modules / "net/cfg80211.ko").write_bytes(module())
    (root / "boot").mkdir()
    (root / "boot" / f"vmlinuz-{release}").write_bytes(b"image")
    (root / "usr/src" / f"linux-headers-{release}").mkdir(parents=True)
    return DistroKernel(release, root)


def test_modules_come_after_what_they_need(tmp_path: Path) -> None:
    kernel = fake_kernel(tmp_path)
    found = kernel.with_dependencies(["mac80211_hwsim"])
    assert list(found) == ["cfg80211", "mac80211", "mac80211_hwsim"]
    paths = [ram_disk.module_path(kernel, path).name for path in found.values()]
    assert paths == ["cfg80211.ko", "mac80211.ko", "mac80211-hwsim.ko"]


def test_what_is_built_in_is_no_module(tmp_path: Path) -> None:
    kernel = fake_kernel(tmp_path)
    (kernel.modules / "net/cfg80211.ko").unlink()
    (kernel.modules.parent / "modules.builtin").write_text("kernel/net/cfg80211.ko\n")
    assert list(kernel.with_dependencies(["mac80211_hwsim"])) == ["mac80211", "mac80211_hwsim"]


def test_a_missing_module_is_named(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match=r"kernel 6\.1\.0-1-amd64 has no module veth"):
        fake_kernel(tmp_path).with_dependencies(["veth"])


def test_a_kernel_may_be_given_by_the_path_of_its_image(tmp_path: Path) -> None:
    kernel = fake_kernel(tmp_path)
    assert distro.find(str(kernel.bootable)) == kernel
    with pytest.raises(ApbedError, match="expected an image named boot/vmlinuz-RELEASE"):
        distro.find(str(tmp_path / "boot/bzImage"))
    kernel.build_dir.rmdir()
    with pytest.raises(ApbedError, match=r"linux-headers-.* is missing"):
        distro.find(str(kernel.bootable))


def test_a_line_is_never_taken_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """6.12 sorts after 6.1 and begins like it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for release in ("6.1.0-56-amd64", "6.12.95-amd64"):
        there = packages.cache_root() / "distro" / release / "packages"
        there.mkdir(parents=True)
        fake_kernel(there, release)
    assert distro.find("6.1").release == "6.1.0-56-amd64"
    assert distro.find("6.12").release == "6.12.95-amd64"
    with pytest.raises(ApbedError, match=r"run `apbed distro fetch --version 7\.2`"):
        distro.find("7.2")
    with pytest.raises(ApbedError, match=r"unknown kernel 6\.10: choose one of 6\.1, 6\.12, 7\.2"):
        distro.find("6.10")


def test_the_command_line_is_the_runs_own(tmp_path: Path) -> None:
    guest = RamGuest(fake_kernel(tmp_path), Path("cell.py"), [], [], [], tmp_path / "out", seed=7)
    words = ram_disk.command_line(guest, tmp_path / "archive")
    pairs = set(pairwise(words))
    assert ("-seed", "7") in pairs
    assert ("-kernel", str(tmp_path / "boot/vmlinuz-6.1.0-1-amd64")) in pairs
    assert ("-initrd", str(tmp_path / "archive")) in pairs
    serials = [after for word, after in pairs if word == "-serial"]
    assert {Path(one).name for one in serials} == {"console.log", "progress"}
    assert "sysctl.vm.panic_on_oom=1" in words[words.index("-append") + 1]
    assert {("-smp", "1"), ("-icount", "shift=0,sleep=off")} <= pairs


def test_several_processors_run_in_real_time(tmp_path: Path) -> None:
    """-icount is for one, and only one of their clocks can be read fast."""
    out = tmp_path / "out"
    guest = RamGuest(fake_kernel(tmp_path), Path("cell.py"), [], [], [], out, seed=7, cpus=2)
    words = ram_disk.command_line(guest, tmp_path / "archive")
    assert ("-smp", "2") in pairwise(words)
    assert "-icount" not in words
    assert "tsc=reliable" in words[words.index("-append") + 1]


@pytest.mark.parametrize(
    "cpus, kvm, accelerator", [(1, True, "tcg"), (2, True, "kvm"), (2, False, "tcg")]
)
def test_only_several_processors_may_have_kvm(
    tmp_path: Path, cpus: int, kvm: bool, accelerator: str
) -> None:
    """With KVM nothing counts instructions, so virtual time would be lost."""
    out = tmp_path / "out"
    guest = RamGuest(
        fake_kernel(tmp_path), Path("cell.py"), [], [], [], out, seed=7, cpus=cpus, kvm=kvm
    )
    words = ram_disk.command_line(guest, tmp_path / "archive")
    assert ("-accel", accelerator) in pairwise(words)
    assert ("-icount" in words) is (cpus == 1)


@pytest.mark.parametrize("kvm, word", [(True, "by KVM"), (False, "KVM does not work here")])
def test_a_machine_says_whether_kvm_works(tmp_path: Path, kvm: bool, word: str) -> None:
    machine = machines.StockMachine(fake_kernel(tmp_path), "make stock", 2, kvm)
    assert word in machine.what and machine.key.endswith("-kvm") is kvm


@pytest.mark.parametrize(
    "program, works",
    [
        ("exit 1", False),  # -cpu host fails on a register
        ("echo 'Kernel panic - not syncing: VFS: Unable to mount root fs'", True),
        ("echo booting", False),  # it ended, and no kernel said why
        ("echo 'Kernel panic - not syncing: VFS'; exec sleep 60", False),  # and does not end
    ],
)
def test_kvm_works_if_a_kernel_boots(tmp_path: Path, program: str, works: bool) -> None:
    """A stand-in for QEMU, which does what the true one was seen to do, or could."""
    qemu_program = tmp_path / "qemu"
    qemu_program.write_text(f"#!/bin/sh\n{program}\n")
    qemu_program.chmod(0o755)
    emulator = qemu.Emulator(qemu_program, None)
    assert kvm.boots(emulator, tmp_path / "vmlinuz", kvm=True, limit_s=2.0) is works


def test_the_guest_gets_every_module_its_script_imports() -> None:
    found = ram_disk.imported(GUEST / "cell.py")
    assert {GUEST / "radios.py", PACKAGE / "scenario" / "plan.py"} <= set(found)
    assert "subprocess.py" in {path.name for path in found}


def test_a_link_is_copied_as_its_file_where_the_folder_really_is(tmp_path: Path) -> None:
    host, root = tmp_path / "host", tmp_path / "root"
    (host / "usr/lib").mkdir(parents=True)
    (host / "lib").symlink_to("usr/lib")
    (host / "usr/lib/libx.so.1.2").write_text("x")
    (host / "usr/lib/libx.so.1").symlink_to("libx.so.1.2")
    there = ram_disk.inside(host / "lib/libx.so.1")
    assert there == (host / "usr/lib").resolve() / "libx.so.1"
    ram_disk.add(host / "lib/libx.so.1", root, there)
    copy = root / there.relative_to("/")
    assert copy.read_text() == "x"
    assert not copy.is_symlink()
    with pytest.raises(ApbedError, match=r"liby\.so is missing"):
        ram_disk.add(host / "liby.so", root, there)


def test_the_checkout_has_one_place_in_every_guest() -> None:
    assert ram_disk.inside(GUEST / "cell.py") == Path("/lab/testbed/guest/cell.py")


def test_equal_files_make_equal_archives_whatever_their_dates(tmp_path: Path) -> None:
    """A kernel reads the dates as it looks for microcode, and some digits take it longer."""
    archives = []
    for name, date in (("a", 0x11111111), ("b", 0x2EEEEEEE)):
        root = tmp_path / name
        (root / "etc").mkdir(parents=True)
        (root / "etc/file").write_text("x")
        os.utime(root / "etc/file", (date, date))
        archives.append(ram_disk.archive(root, tmp_path / f"{name}.cpio").read_bytes())
    assert archives[0] == archives[1]


def test_the_backend_vng_without_a_kernel_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(qemu, "find", lambda: None)
    words = ["run", "demo", "--backend", "vng", "--kernel", "6.12", "--out", str(tmp_path / "out")]
    assert main(words) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["apbed: no stock kernel 6.12 yet; run `apbed distro fetch --version 6.12`"]
    assert not (tmp_path / "out").exists()


ONLY_IN_THE_LAB = {
    "rivals": "radio = 'queues'",
    "http-queueing-f9": "tcp.window_segments",
    "ack-skipping-f4-f6": "net.ipv4.tcp_ack_every",
}


@pytest.mark.parametrize("scenario", ONLY_IN_THE_LAB)
def test_what_only_lab_kernels_have_is_refused_before_anything_starts(
    scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a dry run too, and whether the kernel is there or not."""
    assert main(["run", scenario, "--backend", "vng", "--kernel", "9.9", "--dry-run"]) == 1
    said = f"apbed: {ONLY_IN_THE_LAB[scenario]}: only lab kernels have it; run it without --backend"
    assert capsys.readouterr().err == f"{said} vng\n"
    assert main(["run", scenario, "--dry-run"]) == 0


def test_a_kernel_of_the_users_own_may_have_the_ack_skip_series() -> None:
    words = ["--backend", "vng", "--kernel", "/boot/vmlinuz-patched", "--dry-run"]
    assert main(["run", "ack-skipping-f4-f6", *words]) == 0
    assert main(["run", "rivals", *words]) == 1


@pytest.mark.parametrize("scenario", ["demo", "pareto", "call", "aggregation"])
def test_these_scenarios_can_run_on_stock_kernels(scenario: str) -> None:
    assert main(["run", scenario, "--backend", "vng", "--dry-run"]) == 0


def test_headers_name_their_compiler(tmp_path: Path) -> None:
    """As Debian's linux-headers packages do, in .kernelvariables."""
    line = "CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-16\n"
    (tmp_path / ".kernelvariables").write_text(f"CCACHE = ccache\n{line}")
    assert compiler.named(tmp_path) == "gcc-16"
    assert compiler.named(tmp_path / "elsewhere") is None


def test_a_compiler_that_is_here_needs_no_root() -> None:
    assert compiler.within(None, [], ["make", "all"]) == ["make", "all"]


def test_a_compiler_that_is_nowhere_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ApbedError, match="no gcc-999 here, which the headers name; run `apbed"):
        compiler.within("gcc-999", [], ["make"])


def test_another_compilers_root_sees_the_given_places(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is run has the root's programs and the places' files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root, place = tmp_path / "cache/lasack/compiler/gcc-999", tmp_path / "a place"
    (root / "usr/bin").mkdir(parents=True)
    place.mkdir()
    (place / "said").write_text("hello")
    for program in ("env", "cat"):
        copy_with_libraries(Path("/usr/bin", program), root)
    words = compiler.within("gcc-999", [place], ["cat", str(place / "said")])
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("hello", 0)


def copy_with_libraries(program: Path, root: Path) -> None:
    for path in [program, *ram_disk.libraries([program])]:
        copy = root / path.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
