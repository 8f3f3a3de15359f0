# SPDX-License-Identifier: GPL-2.0-only
"""Other processors: a warning fails the build, and a machine's console is judged rightly."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import cross, toolchain
from apbed.kernels.recipe import Recipe
from apbed.kernels.toolchain import TARGETS

APBED = """\
#!/bin/sh
case $1 in
kernel) echo {tree} ;;
cross) shift 4; exec "$@" ;;
esac
"""
UNDEFINED = 'WARNING: modpost: "skb_push" [x/sch_lasack.ko] undefined!'


def build(place: Path, said: str, symbols: str = "") -> subprocess.CompletedProcess[str]:
    """scripts/modules.sh where compiling says `said`, for a tree with these exported symbols."""
    for folder in ("scripts", "kernel", ".venv/bin", "tree"):
        (place / folder).mkdir(parents=True)
    shutil.copy(REPOSITORY / "scripts" / "modules.sh", place / "scripts")
    (place / "tree" / "Module.symvers").write_text(symbols)
    (place / "kernel" / "said").write_text(said + "\n")
    (place / "kernel" / "Makefile").write_text("all:\n\t@cat said; ! grep -q error: said\n")
    apbed = place / ".venv" / "bin" / "apbed"
    apbed.write_text(APBED.format(tree=place / "tree"))
    apbed.chmod(0o755)
    words = ["sh", str(place / "scripts" / "modules.sh"), "6.1", "mips"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_no_warning(tmp_path: Path) -> None:
    done = build(tmp_path, "  CC [M]  x/inflight/account.o")
    assert (done.returncode, done.stdout) == (0, "modules for 6.1 on mips: no warning\n")


@pytest.mark.parametrize(
    "said",
    [
        "account.c:47:54: warning: integer overflow in expression",
        "account.c:47:54: error: integer overflow [-Werror=overflow]",
        "WARNING: modpost: missing MODULE_LICENSE() in x/inflight.o",
        "scripts/Makefile.build:44: sch_lasack.o is added to multiple modules: a b",
    ],
)
def test_a_warning_is_a_failure(said: str, tmp_path: Path) -> None:
    done = build(tmp_path, said)
    assert done.returncode == 1 and said in done.stdout and "no warning" not in done.stdout


def test_symbols_may_be_unknown_only_if_none_is_known(tmp_path: Path) -> None:
    assert build(tmp_path / "none", UNDEFINED).returncode == 0
    done = build(tmp_path / "some", UNDEFINED, symbols="0x1\tskb_pull\tvmlinux\tEXPORT_SYMBOL\t\n")
    assert done.returncode == 1 and "skb_push" in done.stdout


def test_tools_are_built_without_warning() -> None:
    """cross_tools.sh relies on the tools' own Makefiles for that."""
    for makefile in (REPOSITORY / "tools").glob("*/Makefile"):
        assert "-Wall -Wextra -Werror" in makefile.read_text(), makefile


PASSED = """\
KTAP version 1
    ok 1 - sums_wrap
ok 1 - lasack_sum
ok 2 - tcp_segment
modules that do not load: 0
"""


def judged(console: str) -> int:
    return cross._verdict(console, suites=2)


def test_console_of_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """0 only if every suite passed, every module was loaded and the kernel did not complain."""
    assert judged(PASSED) == 0
    assert judged(PASSED.replace("ok 2 - tcp_segment\n", "")) == 1
    assert judged(PASSED.replace("    ok 1 -", "    not ok 1 -")) == 1
    assert judged(PASSED.replace("load: 0", "load: 1")) == 1
    assert judged(PASSED.replace("modules that do not load: 0\n", "")) == 1
    assert judged(PASSED + "WARNING: CPU: 0 PID: 1 at net/core/skbuff.c:1\n") == 1
    assert "not ok 1 the kernel complained" in capsys.readouterr().out


def test_recipes() -> None:
    """Another processor's tree goes without the series and the lab's patches; one boots."""
    for arch in TARGETS:
        recipe = Recipe("6.1", arch=arch)
        assert recipe.patches == [] and recipe.base == "allnoconfig"
        assert [path.name for path in recipe.fragments] == ["cross.config", f"{arch}.config"]
    assert [target.arch for target in TARGETS.values() if target.emulator] == ["mips"]
    assert "CPU_BIG_ENDIAN=y" in Recipe("6.1", arch="mips").config()
    assert toolchain.environment("um") == toolchain.environment("x86_64") == {}
