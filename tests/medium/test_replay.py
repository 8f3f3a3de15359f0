# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium replay: a recording, played again, must be decided the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apbed.run import runner
from apbed.scenario import catalogue, parse
from tests.medium.dcfmedium import assert_refused, run, saturate, statistics

# What `saturate` reckons beside the medium's own statistics.
OF_SATURATE = ("throughput_mbps", "jain_1s")

CELL = ("--stations", "4", "--phy", "ofdm-54", "--payload", "700")
GE = "ge,good=0.1,bad=0.0333,ber-good=1e-6,ber-bad=1e-2"


def record(path: Path, *words: str) -> dict[str, Any]:
    """Statistics of a saturated cell whose recording is in `path` then."""
    return saturate(*CELL, "--seconds", "3", "--record", path, *words)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--seed", "7", "--eifs", "off", "--retry", "2"),
        ("--edca", "default"),
        ("--access", "aap", "--idle-target", "5"),
        ("--phy", "ht20", "--ampdu", "8", "--channel", "loss=0.2"),
        ("--rts", "0", "--channel", GE, "--fec", "255,181"),
    ],
    ids=["dcf", "options", "edca", "aap", "ampdu", "ge"],
)
def test_same_digest_and_statistics(tmp_path: Path, words: tuple[str, ...]) -> None:
    trace = tmp_path / "trace"
    recorded = record(trace, *words)
    assert statistics("replay", trace) == {
        k: v for k, v in recorded.items() if k not in OF_SATURATE
    }


@pytest.mark.usefixtures("lab_kernel")
@pytest.mark.parametrize("channel", ["ideal", GE], ids=["ideal", "ge"])
def test_a_lab_run_is_decided_the_same(tmp_path: Path, channel: str) -> None:
    """The demo's cell, cut short, with its mark in the middle; and with another seed not.

    The channel loses frames from the mark on.
    """
    short = ["medium.record=true", "duration_s=5", "warmup_s=2", "ap.qdisc=fq_codel"]
    short.append(f"medium.channel={channel}")
    runner.run_all(parse.load(catalogue.find("demo"), short), tmp_path, jobs=1)
    (run_dir,) = (tmp_path / "runs").iterdir()
    recorded = json.loads((run_dir / "medium.json").read_text())
    again = statistics("replay", run_dir / "arrivals.txt")
    assert recorded["tx"] > 1000
    assert recorded == again
    other = statistics("replay", run_dir / "arrivals.txt", "--seed", "2")
    assert other["digest"] != recorded["digest"]


def test_another_decision_is_told(tmp_path: Path) -> None:
    """A trace in which one frame is a byte longer is not what was recorded."""
    trace = tmp_path / "trace"
    record(trace)
    trace.write_text(trace.read_text().replace(" 736 ", " 737 ", 1))
    done = run("replay", trace)
    assert done.returncode == 1
    assert done.stderr.startswith("dcfmedium: ")
    assert "the core decided otherwise: digest" in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_truncation_is_told(tmp_path: Path) -> None:
    """A recording that ended early is no trace of a run, wherever it was cut."""
    trace, cut = tmp_path / "trace", tmp_path / "cut"
    record(trace, "--seconds", "0.01")
    whole = trace.read_bytes()
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        done = run("replay", cut)
        assert done.returncode == 1
        assert done.stdout == ""
        assert "cut short" in done.stderr or "no recording" in done.stderr


def test_missing_lines_are_told(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    record(trace, "--seconds", "0.01")
    lines = trace.read_text().splitlines(keepends=True)
    del lines[-2]
    trace.write_text("".join(lines))
    assert_refused("lines are missing", "replay", trace, status=1)


HEAD = "dcfmedium-arrivals 1\noption phy ofdm-54\n"
STATION = "= 0 station 02:00:00:00:00:00,retry=7,cwmin=16,cwmax=1024\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no recording"),
        ("{}\n", "is no recording"),
        ("dcfmedium-arrivals 2\n", "has schema 2; this program reads 1"),
        ("dcfmedium-arrivals 1\n= 0 mark\n", "comes without `option phy PROFILE`"),
        (f"{HEAD}option speed 9\n", ":3: has an option this program does not know"),
        (f"{HEAD}option\n", ":3: does not begin with +, = or @"),
        (f"{HEAD}= x mark\n", ":3: does not begin with +, = or @"),
        (f"{HEAD}? 0 mark\n", ":3: does not begin with +, = or @"),
        (f"{HEAD}= 5 mark\n+ 4 mark\n", ":4: goes back in time"),
        (f"{HEAD}= 0 marked\n", ":3: is none of station, frame, channel, mark, lossless and end"),
        (f"{HEAD}= 0 frame 0 0 100 a 0\n", ":3: names a station that does not exist"),
        (f"{HEAD}{STATION}= 0 frame 0 -3 100 a 0\n", ":4: names a station"),
        (f"{HEAD}{STATION}= 0 frame 0 -1 0 a 0\n", ":4: has a frame of an impossible length"),
        (f"{HEAD}{STATION}= 0 frame 0 -1 100 q 0\n", ":4: has a flag"),
        (
            f"{HEAD}{STATION}= 0 frame 0 -1 100 a 110\n",
            ":4: has a rate that the profile does not have",
        ),
        (f"{HEAD}{STATION}= 0 frame 0 -1 100 a\n", ":4: is not `frame FROM TO"),
        (f"{HEAD}= 0 station 02:00:00:00:00:00\n", ":3: has a station without retry"),
        (
            f"{HEAD}{STATION}@ 9 frame 0 -1 100 a 0\n= 9 end 2 0\n",
            "has @, but no frame ends there",
        ),
        (f"{HEAD}@ 0 mark\n", ":3: has @, which only a frame can have"),
    ],
)
def test_a_bad_trace_is_one_line_and_exit_1(tmp_path: Path, text: str, says: str) -> None:
    trace = tmp_path / "trace"
    trace.write_text(text)
    assert_refused(says, "replay", trace, status=1)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ((), 2, "replay needs one FILE"),
        (("a", "b"), 2, "replay needs one FILE"),
        (("nowhere",), 1, "cannot read nowhere: No such file"),
        (("/",), 1, "cannot read /: Is a directory"),
        (("nowhere", "--bogus"), 2, "'--bogus' is no option"),
    ],
)
def test_bad_usage_is_one_line(words: tuple[str, ...], status: int, says: str) -> None:
    assert_refused(says, "replay", *words, status=status)


def test_a_saturated_recording_cannot_be_overridden(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    record(trace)
    assert_refused("run `saturate` itself", "replay", trace, "--seed", "2", status=1)


def test_a_recording_that_cannot_be_written() -> None:
    for path, why in (
        ("/nowhere/x", "No such file"),
        ("/dev/full", "No space left"),
    ):
        refusal = f"--record: cannot write {path}: {why}"
        assert_refused(refusal, "saturate", *CELL, "--record", path, status=1)
