# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium explain: the timeline against tshark's reading of the same trace, and its sums
against the statistics of the run."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.medium.dcfmedium import assert_refused, output, run, saturate


def trace(path: Path, *words: str) -> dict[str, Any]:
    """Statistics of a saturated cell whose trace is in `path` then."""
    cell = ["--stations", "6", "--payload", "1500", "--seconds", "1"]
    return saturate(*cell, "--pcap", path, *words)


def explain(path: Path, *words: str) -> str:
    text = output("explain", path, *words)
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert "\x1b" not in text
    return text


def fields(path: Path, *names: str) -> list[list[str]]:
    """These fields of every frame, as tshark reads them."""
    command = ["tshark", "-r", str(path), "-T", "fields"]
    command += [word for name in names for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_the_timeline_is_tsharks(tmp_path: Path) -> None:
    """Each frame that did not collide is there with its time and airtime, and what is between."""
    path = tmp_path / "air.pcapng"
    trace(path, "--phy", "ofdm-54", "--rts", "0")
    text = explain(path, "--seconds", "1000")
    told = [
        (round(float(seconds) * 1e6), int(us), "ACK" in what)
        for seconds, us, what in re.findall(r"^ *(\d+\.\d{6}) +(\d+)  (.*)$", text, re.M)
        if what != "COLLISION"
    ]
    columns = ("frame.interface_name", "radiotap.mactime", "wlan_radio.duration")
    read = fields(path, *columns, "wlan.fc.type_subtype")
    heard = [(int(at), int(us), kind == "0x001d") for on, at, us, kind in read if on == "air"]
    assert len(heard) > 1000
    assert told == heard


def test_gaps_are_what_is_between(tmp_path: Path) -> None:
    path = tmp_path / "air.pcapng"
    trace(path, "--phy", "hrdsss-11")
    lines = re.findall(r"^ *(?:(\d+\.\d{6}) )? +(\d+)  (.*)$", explain(path), re.M)
    now, gaps = 0, 0
    for seconds, us, what in lines:
        if seconds:
            begins = round(float(seconds) * 1e6)
            assert begins - now in (0, 10)  # SIFS, which is no line
            now = begins
        else:
            found = re.fullmatch(r"idle: DIFS \+ (\d+(?:\.\d+)?) slots", what)
            assert found is not None
            assert int(us) == pytest.approx(50 + 20 * float(found.group(1)), abs=0.5)
            gaps += 1
        now += int(us)
    assert gaps > 300


def lost_cts(path: Path) -> dict[str, list[tuple[bool, bool]]]:
    """By the address of who had sent the RTS: whether that was a retry, and its last attempt."""
    columns = ("wlan.fc.type_subtype", "wlan.ra", "radiotap.flags.badfcs", "radiotap.data_retries")
    found: dict[str, list[tuple[bool, bool]]] = {}
    read = fields(path, *columns, "radiotap.txflags")
    for rts, cts in pairwise(read):
        kind, to, bad = cts[:3]
        if kind == "0x001c" and bad == "1":
            assert rts[0] == "0x001b"
            found.setdefault(to, []).append((int(rts[3]) > 0, int(rts[4], 16) & 1 > 0))
    return found


@pytest.mark.parametrize(
    "words",
    [
        ("--phy", "hrdsss-11", "--retry", "2"),
        ("--phy", "ofdm-54", "--rts", "0", "--channel", "loss=0.1"),
        ("--phy", "ht20", "--channel", "loss=0.2", "--retry", "2"),
    ],
    ids=lambda words: words[1],
)
def test_the_summary_is_the_statistics(tmp_path: Path, words: tuple[str, ...]) -> None:
    """But for attempts whose RTS came and whose CTS was lost: neither of these is an MPDU, so the
    summary has them in no column. A lost ACK is a loss to the statistics alone."""
    path = tmp_path / "air.pcapng"
    stats = trace(path, *words)
    text = explain(path, "--summary")
    assert "idle:" not in text
    rows = {line.split()[0]: line.split()[1:6] for line in text.splitlines() if line[:3] == "sta"}
    del rows["station"]
    silent = lost_cts(path)
    assert bool(silent) is ("--rts" in words)
    for s in stats["stations"]:
        mine = silent.get(s["addr"], [])
        again, last = sum(retry for retry, _ in mine), sum(last for _, last in mine)
        assert tuple(map(int, rows.pop(s["name"]))) == (
            s["tx"] - len(mine),
            s["retries"] - again,
            s["collisions"],
            s["lost"] - s["acks_lost"] - len(mine),
            s["drops"] - last,
        )
    assert not rows
    assert all(sum(s[what] for s in stats["stations"]) for what in ("collisions", "drops"))


def test_idle_of_pieces_is_that_of_the_whole(tmp_path: Path) -> None:
    """Whatever a piece begins in the middle of keeps the medium busy in it, too."""
    path = tmp_path / "air.pcapng"
    trace(path, "--phy", "hrdsss-11")

    def idle(start: float, seconds: float) -> float:
        words = ("--from", f"{start:.3f}", "--seconds", f"{seconds:.3f}", "--summary")
        found = re.search(r": idle ([\d.]+) %", explain(path, *words))
        assert found
        return float(found[1])

    pieces = [idle(0.1 + 0.002 * i, 0.002) for i in range(20)]
    # Each is rounded to 0.1.
    assert sum(pieces) / len(pieces) == pytest.approx(idle(0.1, 0.04), abs=0.11)


def test_lost_mpdus_are_named(tmp_path: Path) -> None:
    path = tmp_path / "air.pcapng"
    trace(path, "--phy", "ht20", "--ampdu", "8", "--channel", "loss=0.2")
    text = re.sub(r"\n {20}(?=\S)", " ", explain(path))  # what does not fit a line goes on below
    told = [numbers.split() for numbers in re.findall(r"LOST \d+: seq([ \d]+)", text)]
    columns = ("radiotap.ampdu.reference", "wlan.seq", "radiotap.flags.badfcs")
    lost: dict[str, list[str]] = {}
    size: dict[str, int] = {}
    for reference, sequence, bad in fields(
        path,
        *columns,
    ):
        if reference:
            size[reference] = size.get(reference, 0) + 1
            lost.setdefault(reference, []).extend([sequence] if bad == "1" else [])
    partly = [numbers for reference, numbers in lost.items() if 0 < len(numbers) < size[reference]]
    assert len(partly) > 50
    assert told == partly


def test_one_station_alone(tmp_path: Path) -> None:
    path = tmp_path / "air.pcapng"
    trace(path, "--phy", "ofdm-54")
    timeline = explain(path, "--station", "sta2", "--seconds", "0.2").split("\n\n")[0]
    assert "idle" not in timeline
    for line in timeline.splitlines()[2:]:
        assert "sta2" in line or line[20:22] == "  " or line.endswith("COLLISION")
    byaddress = explain(path, "--station", "sta2", "--from", "0.5", "--seconds", "0.1")
    assert "sta2 > sta3" in byaddress


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ((), 2, "explain needs one PCAP"),
        (("a", "b"), 2, "explain needs one PCAP"),
        (("nowhere",), 1, "cannot read nowhere: No such file"),
        (("/",), 1, "is no trace that"),
        ((__file__,), 1, "is no trace that"),
        (("nowhere", "--seconds", "0"), 2, "--seconds: '0'"),
        (("nowhere", "--bogus"), 2, "'--bogus' is no option"),
    ],
)
def test_bad_usage_is_one_line(words: tuple[str, ...], status: int, says: str) -> None:
    assert_refused(says, "explain", *words, status=status)


def test_unknown_station_and_truncated_traces(tmp_path: Path) -> None:
    """What is there of a trace that was cut short is told; no cut crashes it."""
    path, cut = tmp_path / "air.pcapng", tmp_path / "cut"
    trace(path, "--phy", "hrdsss-11", "--seconds", "0.02")
    assert_refused("--station: no 'nobody' in", "explain", path, "--station", "nobody")
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        done = run("explain", cut)
        assert done.returncode in (0, 1)
        assert done.stderr.count("\n") <= 2
    cut.write_bytes(whole[:-1])
    done = run("explain", cut)
    assert done.returncode == 0
    assert "is cut short after frame" in done.stderr
