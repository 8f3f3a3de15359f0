# SPDX-License-Identifier: GPL-2.0-only
"""A tc plugin that is older or newer than the module: one line says so, in a lab kernel.

The two plugins are made from today's, one with an option and a counter less, one with more.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

REPOSITORY = Path(__file__).resolve().parents[2]
KINDS = ("lasack", "ackwrr")  # inflight's statistics have a fixed size: they have no version

SCRIPT = """\
for module in inflight sch_inflight sch_lasack sch_ackwrr; do
    insmod {modules}/$module.ko || exit
done
ip link add dev0 type dummy
ip link set dev0 up
for kind in lasack ackwrr; do
    for plugin in same older newer; do
        export TC_LIB_DIR=$PWD/$plugin/build/tc
        [ $plugin != same ] || TC_LIB_DIR={tree}/build/tc
        out=$kind-$plugin
        tc qdisc replace dev dev0 root $kind limit 7 2> $out.replace
        tc -s qdisc show dev dev0 > $out.shown 2> $out.said || exit
        tc -s -j qdisc show dev dev0 > $out.json 2> $out.said-json || exit
    done
    tc qdisc change dev dev0 root $kind limit 8 future 1 2> $kind-unknown.said && exit 1
    tc qdisc show dev dev0 > $kind-unknown.shown
done
"""
LASACK = ("kernel/uapi/pkt_sch_lasack.h", "tc/q_lasack.c")
ACKWRR = ("kernel/uapi/pkt_sch_ackwrr.h", "tc/q_ackwrr.c")
Changes = dict[str, list[tuple[str, str]]]
OLDER: Changes = {
    LASACK[0]: [
        (r"\tTCA_LASACK_UNIT,.*\n", ""),
        (r"\t__u64\trated;.*\n", ""),
    ],
    LASACK[1]: [
        (r'\t\{ "unit", .*\n', ""),
        (r"(?s)static const struct option_word lasack_units.*?\};\n", ""),
        (r".*st\.rated.*\n", ""),
    ],
    ACKWRR[0]: [(r"\t__u64\tpurged;.*\n", "")],
    ACKWRR[1]: [(r".*st\.purged.*\n", "")],
}
NEWER: Changes = {
    LASACK[0]: [
        (r"(\t__TCA_LASACK_MAX\n)", r"\tTCA_LASACK_FUTURE,\n\1"),
        (r"(\t__u64\trated;.*\n)", r"\1\t__u64\tfuture;\n"),
    ],
    LASACK[1]: [
        (
            r'(\t\{ "target", .*\n)',
            r'\1\t{ "future", TCA_LASACK_FUTURE, UNIT_NONE, 0, 9, NULL },\n',
        )
    ],
    ACKWRR[0]: [
        (r"(\t__TCA_ACKWRR_MAX\n)", r"\tTCA_ACKWRR_FUTURE,\n\1"),
        (r"(\t__u64\tpurged;.*\n)", r"\1\t__u64\tfuture;\n"),
    ],
    ACKWRR[1]: [
        (
            r'(\t\{ \.name = "limit", .*\n)',
            r'\t{ .name = "future", .attribute = TCA_ACKWRR_FUTURE, .max = 9 },\n\1',
        )
    ],
}


def build(tree: Path, changes: Changes) -> None:
    """tc/ and what it includes in `tree`, with some text of each file replaced."""
    for folder in ("tc", "kernel/uapi"):
        shutil.copytree(REPOSITORY / folder, tree / folder)
    for name, replaced in changes.items():
        text = (tree / name).read_text()
        for old, new in replaced:
            assert len(re.findall(old, text)) == 1, old
            text = re.sub(old, new, text)
        (tree / name).write_text(text)
    subprocess.run(["make", "-s", "-C", str(tree / "tc")], check=True)


@pytest.fixture(scope="module")
def place(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("versions")
    build(out / "older", OLDER)
    build(out / "newer", NEWER)
    modules = REPOSITORY / "build" / "modules" / f"{lab_kernel.release}-um"
    console = out / "console.log"
    script = SCRIPT.format(tree=REPOSITORY, modules=modules)
    guest = lab.Guest(lab_kernel, ["sh", "-c", script], out, workdir=out, console=console)
    result = lab.boot(guest, Watchdog(limit_s=60))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    return out


def said(place: Path, name: str) -> list[str]:
    return (place / name).read_text().splitlines()


@pytest.mark.parametrize("kind", KINDS)
def test_same_version_says_nothing(place: Path, kind: str) -> None:
    assert said(place, f"{kind}-same.said") == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plugin", ["older", "newer"])
def test_one_line(place: Path, kind: str, plugin: str) -> None:
    """On stderr, also beside JSON; what both know is shown."""
    module = {"older": "newer", "newer": "older"}[plugin]
    for name in (f"{kind}-{plugin}.said", f"{kind}-{plugin}.said-json"):
        (line,) = said(place, name)
        assert line.startswith(f"{kind}: the module is {module} than tc's plugin")
    assert said(place, f"{kind}-{plugin}.replace") == []
    shown = (place / f"{kind}-{plugin}.shown").read_text()
    assert " limit 7p " in shown and " backpressure " in shown


@pytest.mark.parametrize("kind", KINDS)
def test_option_that_the_module_lacks(place: Path, kind: str) -> None:
    """The kernel refuses it in one line, and nothing changes."""
    (line,) = said(place, f"{kind}-unknown.said")
    assert line == "Error: Unknown attribute type."
    assert " limit 7p " in (place / f"{kind}-unknown.shown").read_text()
