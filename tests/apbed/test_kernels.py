# SPDX-License-Identifier: GPL-2.0-only
"""Building and caching lab kernels, on a source package of a few lines.

The toy package's Makefile answers to the targets a kernel's does, so that
the real code unpacks, configures, builds, prunes, locks and cleans up.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tarfile
import threading
import time
from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.kernels import cache, packages, recipe
from apbed.kernels.make import run
from apbed.kernels.packages import Source
from apbed.kernels.recipe import Recipe

TOY_MAKEFILE = """\
all: $(EXTRA)
	@test "$(ARCH)" = um && sleep 0.2 && cp .config linux && cp .config mac80211_hwsim.ko
	@mkdir -p include/config arch/um arch/arm drivers; echo 6.1.0-toy >include/config/kernel.release
	@test -z "$(BUILDS)" || echo built >>"$(BUILDS)"
	@echo "  CC      init/main.o"; echo "  LD      vmlinux"
allnoconfig:
	@echo "# empty" >.config
olddefconfig:
	@sed -i '/REFUSED/d' .config
defconfig:
	@echo "# defaults" >.config
modules_prepare:
	@mkdir -p tools/objtool drivers arch
	@echo x >tools/objtool/objtool
fails:
	@echo "  CC      bad.o"; echo "bad.c:3:1: error: expected ';'"; exit 2
hangs:
	@echo $$$$ >$(PIDS); sleep 600 & echo $$! >>$(PIDS); wait
"""


class Toy:
    """A private cache, fragment directory and source package."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fragments = root / "fragments"
        self.fragments.mkdir()
        self.fragment("lab.config", "CONFIG_TOY=y\n")
        self.fragment("debug.config", "CONFIG_TOY_DEBUG=y\n")
        self.located = 0
        self.package_version = "6.1.1-1"

    def fragment(self, name: str, text: str) -> None:
        (self.fragments / name).write_text(text)

    def locate(self, version: str) -> Source:
        self.located += 1
        source = self.root / f"linux-source-{version}"
        source.mkdir(exist_ok=True)
        (source / "Makefile").write_text(TOY_MAKEFILE)
        archive = self.root / f"{source.name}.tar.xz"
        with tarfile.open(archive, "w:xz") as tar:
            tar.add(source, source.name)
        return Source(self.package_version, archive)

    def left_behind(self) -> list[str]:
        return [path.name for path in cache.cache_dir().glob("*.partial")]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    toy = Toy(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(recipe, "FRAGMENTS", toy.fragments)
    monkeypatch.setattr(recipe, "PATCHES", (tmp_path / "lab", tmp_path / "patches"))
    monkeypatch.setattr(packages, "locate", toy.locate)
    return toy


def test_builds_once_and_keeps_what_modules_need(toy: Toy) -> None:
    assert cache.find("6.1") is None
    kernel = cache.build("6.1")
    assert (kernel.version, kernel.release, kernel.debug) == ("6.1", "6.1.0-toy", False)
    assert kernel.linux.read_text() == "# empty\nCONFIG_TOY=y\n"
    assert kernel.hwsim.exists()
    assert kernel.steps == 2
    kept = {path.name for path in kernel.build_dir.iterdir()}
    assert kept == {"Makefile", ".config", "include", "arch"}
    assert [path.name for path in (kernel.build_dir / "arch").iterdir()] == ["um"]
    assert cache.build("6.1") == kernel == cache.find("6.1")
    assert toy.located == 1
    assert toy.left_behind() == []


@pytest.mark.usefixtures("toy")
def test_debug_kernel_is_another() -> None:
    debug = cache.build("6.1", debug=True)
    assert "CONFIG_TOY_DEBUG=y" in debug.linux.read_text()
    assert cache.find("6.1") is None
    assert cache.build("6.1").key != debug.key


def test_changed_fragment_or_patch_needs_a_new_build(toy: Toy) -> None:
    first = cache.build("6.1")
    toy.fragment("lab.config", "CONFIG_TOY=m\n")
    assert cache.find("6.1") is None
    second = cache.build("6.1")
    assert second.key != first.key
    patches = toy.root / "patches" / "6.1"
    patches.mkdir(parents=True)
    (patches / "0001-motd.patch").write_text("--- /dev/null\n+++ b/motd\n@@ -0,0 +1 @@\n+hello\n")
    assert cache.find("6.1") is None
    third = cache.build("6.1")
    assert {kernel.key for kernel in cache.cached()} == {first.key, second.key, third.key}


def test_stock_kernel_has_the_labs_patches_only(toy: Toy) -> None:
    for series in ("lab", "patches"):
        (toy.root / series / "6.1").mkdir(parents=True)
        (toy.root / series / "6.1/0001.patch").write_text(
            f"--- /dev/null\n+++ b/{series}.config\n@@ -0,0 +1 @@\n+hello\n"
        )
    both, stock = cache.build("6.1"), cache.build("6.1", stock=True)
    assert (both.stock, stock.stock) == (False, True)
    assert both.key != stock.key
    assert (cache.find("6.1"), cache.find("6.1", stock=True)) == (both, stock)
    patches = [Recipe("6.1", stock=kernel.stock).patches for kernel in (both, stock)]
    names = [[patch.parent.parent.name for patch in series] for series in patches]
    assert names == [["lab", "patches"], ["lab"]]


@pytest.mark.usefixtures("toy")
def test_half_a_kernel_is_none() -> None:
    kernel = cache.build("6.1")
    kernel.hwsim.unlink()
    assert cache.find("6.1") is None
    again = cache.build("6.1")
    assert again.hwsim.exists()
    (again.linux.parent / "kernel.json").write_text("{")
    assert cache.find("6.1") is None
    assert cache.cached() == []


def test_symbol_that_does_not_survive_is_named(toy: Toy) -> None:
    toy.fragment("lab.config", "CONFIG_TOY=y\nCONFIG_REFUSED=y\n# CONFIG_ABSENT is not set\n")
    with pytest.raises(ApbedError) as error:
        cache.build("6.1")
    assert str(error.value) == "lab.config: kernel 6.1 does not accept CONFIG_REFUSED=y"
    assert toy.left_behind() == []


def test_failed_compile_says_why_in_one_line(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRA", "fails")
    with pytest.raises(ApbedError) as error:
        cache.build("6.1")
    log = cache.cache_dir() / "6.1.log"
    assert str(error.value) == f"make failed: bad.c:3:1: error: expected ';' (log: {log})"
    assert "  CC      bad.o" in log.read_text()
    assert toy.left_behind() == []
    assert cache.find("6.1") is None


@pytest.mark.usefixtures("toy")
def test_outer_make_does_not_steer_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "-n -k")
    monkeypatch.setenv("ARCH", "arm64")
    assert cache.build("6.1").linux.exists()


def test_terminated_build_leaves_nothing(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = toy.root / "pids"
    monkeypatch.setenv("EXTRA", "hangs")
    monkeypatch.setenv("PIDS", str(pids))

    def terminate() -> None:
        while not (pids.exists() and len(pids.read_text().split()) == 2):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=terminate).start()
    with pytest.raises(KeyboardInterrupt):
        cache.build("6.1")
    assert toy.left_behind() == []
    assert cache.find("6.1") is None
    # A killed process dies when it next gets the processor. One that was not sleeps for 600 s.
    for pid in pids.read_text().split():
        until = time.monotonic() + 10
        while _runs(int(pid)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not _runs(int(pid)), f"process {pid} of the build is still there"


def _runs(pid: int) -> bool:
    """Whether a process exists and is not a zombie nobody waits for."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_leftover_of_a_killed_build_is_replaced(toy: Toy) -> None:
    kernel = cache.build("6.1")
    kernel.linux.unlink()
    partial = kernel.build_dir.parent.with_name(kernel.key + ".partial")
    partial.mkdir()
    (partial / "tree").mkdir()
    (partial / "linux").write_text("half")
    assert cache.build("6.1").linux.read_text() != "half"
    assert toy.left_behind() == []


def _kill_build(monkeypatch: pytest.MonkeyPatch, pids: Path) -> None:
    """Start a build that hangs in make, and kill it and its make."""
    with monkeypatch.context() as patched:
        patched.setenv("EXTRA", "hangs")
        patched.setenv("PIDS", str(pids))
        builder = multiprocessing.get_context("fork").Process(target=cache.build, args=("6.1",))
        builder.start()
        while not (pids.exists() and len(pids.read_text().split()) == 2):
            time.sleep(0.01)
        builder.kill()
        builder.join()
    os.killpg(os.getpgid(int(pids.read_text().split()[0])), signal.SIGKILL)


def test_killed_build_is_gone_on_with(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    _kill_build(monkeypatch, toy.root / "pids")
    (partial,) = cache.cache_dir().glob("*.partial")
    (partial / "tree/.config").write_text("# what make had compiled\n")
    assert cache.build("6.1").linux.read_text() == "# what make had compiled\n"
    assert toy.left_behind() == []


def test_killed_build_of_another_recipe_is_removed(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_build(monkeypatch, toy.root / "pids")
    toy.fragment("lab.config", "CONFIG_TOY=m\n")
    assert cache.build("6.1").linux.read_text() == "# empty\nCONFIG_TOY=m\n"
    assert toy.left_behind() == []


def _build_key(version: str) -> str:
    return cache.build(version).key


def test_second_builder_waits_and_reuses(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    builds = toy.root / "builds"
    monkeypatch.setenv("BUILDS", str(builds))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        keys = pool.map(_build_key, ["6.1", "6.1"], chunksize=1)
    assert len(set(keys)) == 1
    assert builds.read_text() == "built\n"
    assert "apbed: waiting for the other build of 6.1\n" in capfd.readouterr().err


def test_unknown_version_is_refused() -> None:
    with pytest.raises(ApbedError, match=r"unknown kernel version 5\.4: choose one of 6\.1"):
        Recipe("5.4", debug=False)


def test_run_reports_the_last_line_when_none_says_error(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match=r"sh failed: so it goes \(log: "):
        run(["sh", "-c", "echo so it goes; exit 3"], tmp_path / "log", cwd=tmp_path)


def test_module_tree_without_a_kernel(toy: Toy) -> None:
    toy.fragment("x86_64.config", "CONFIG_TOY_SMP=y\n")
    tree = cache.module_tree("6.1", "x86_64")
    assert (tree / ".config").read_text() == "# defaults\nCONFIG_TOY_SMP=y\n"
    assert (tree / "Module.symvers").exists()
    assert os.access(tree / "tools/objtool/objtool", os.X_OK)
    assert not (tree / "drivers").exists()
    assert cache.module_tree("6.1", "x86_64") == tree
    assert toy.located == 1
    assert cache.cached() == []


@pytest.mark.usefixtures("toy")
def test_module_tree_of_a_built_kernel() -> None:
    kernel = cache.build("6.1")
    assert cache.module_tree("6.1", "um") == kernel.build_dir
