# SPDX-License-Identifier: GPL-2.0-only
"""What thinner ACKs gave, from summaries written here; what is expected is reckoned by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import ack_comparison, ack_plots, report, summary
from apbed.cli import main
from apbed.errors import ApbedError
from tests.apbed import fabricated_run as fabricated

SKIP = "wired.sysctl.net.ipv4.tcp_ack_skip"
EVERY = "station.sysctl.net.ipv4.tcp_ack_every"
# Seconds that two transfers of 1 Mbit took: at seed 1 and 2, none skipped and one.
TOOK_S: dict[tuple[int, int], tuple[float, float | None]] = {
    (1, 0): (1.0, 0.5),
    (2, 0): (2.0, 2.0),
    (1, 1): (0.5, 0.5),
    (2, 1): (1.0, None),
}


def run(params: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A valid RUN of one station."""
    counters = {"InSegs": 0, "OutSegs": 0, "RetransSegs": 0, "TCPTimeouts": 0, "TCPDSACKRecv": 0}
    whole = {"id": str(params), "valid": True, "why_invalid": None, "params": params}
    whole |= {"flows": [{"station": "sta1", "dir": "up"}], "transfers": []}
    whole["tcp"] = {"wired": counters, "sta1": counters}
    whole["medium"] = {"collision_probability": 0.05}
    whole["qdisc"] = [{"kind": "inflight", "drops": 10}, {"kind": "pfifo", "drops": 10}]
    return whole | parts


def write(directory: Path, runs: list[dict[str, Any]]) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "summary.json").write_text(json.dumps({"runs": runs}))
    return directory


def upload_runs() -> list[dict[str, Any]]:
    found = []
    for (seed, skip), times in TOOK_S.items():
        one = run({"seed": seed, SKIP: skip, "station.retry": 16})
        one["transfers"] = [{"bytes": 125_000, "response_s": took_s} for took_s in times]
        one["tcp"] = {
            "wired": {"InSegs": 200, "OutSegs": 100 // (skip + 1)},
            "sta1": {"RetransSegs": 3 + skip, "TCPTimeouts": 0, "TCPDSACKRecv": 0},
        }
        found.append(one)
    return found


def test_gain_is_of_each_seed(tmp_path: Path) -> None:
    """Seed 1: 1.5 Mb/s on average and 2; seed 2: 0.5 and 1, of what ended. 33 % and 100 %."""
    none, one = ack_comparison.uploads(ack_comparison.load(write(tmp_path, upload_runs())))
    assert (none.size, none.attempts, none.every, none.flows) == (125_000, 16, 2, 1)
    assert none.mbps.mean == pytest.approx((1.5 + 0.5) / 2)
    assert none.gain and none.gain.mean == 0
    assert one.gain and one.gain.low == pytest.approx(1 / 3)
    assert one.gain.high == pytest.approx(1.0)
    assert (none.segments_per_ack, one.segments_per_ack) == (2.0, 4.0)
    assert one.delivered_per_ack == 400 / (100 - 20)  # two runs that dropped 10 each
    assert (none.unfinished, one.unfinished) == (0, 1)
    assert one.counters == {"RetransSegs": 8, "TCPTimeouts": 0, "TCPDSACKRecv": 0}


def test_a_gain_is_over_the_same_start(tmp_path: Path) -> None:
    """Where skipping starts elsewhere is a row of its own."""
    runs = upload_runs()
    for one in runs[2:]:
        one["params"]["wired.sysctl.net.ipv4.tcp_ack_skip_after"] = 0
    fixed, default = ack_comparison.uploads(ack_comparison.load(write(tmp_path, runs)))
    assert (fixed.after, fixed.skip, fixed.gain) == (0, 1, None)
    assert (default.after, default.skip, default.gain and default.gain.mean) == (64, 0, 0)


def test_an_invalid_run_is_refused(tmp_path: Path) -> None:
    runs = upload_runs()
    runs[2] |= {"valid": False, "why_invalid": "a stall"}
    with pytest.raises(ApbedError, match="is invalid: a stall"):
        ack_comparison.load(write(tmp_path, runs))


def test_what_never_ended_is_no_throughput(tmp_path: Path) -> None:
    runs = upload_runs()
    for transfer in runs[0]["transfers"]:
        transfer["response_s"] = None
    with pytest.raises(ApbedError, match="no transfer ended"):
        ack_comparison.uploads(ack_comparison.load(write(tmp_path, runs)))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["ack-skipping", "--beside"], "a run: no transfer; expected a scenario ack-skipping-*"),
        (
            ["http-queueing", "--beside"],
            "a run: no flow; expected the scenario http-queueing-f3-f6",
        ),
        (
            ["http-queueing", "--sessions"],
            "no transfer ended; expected the scenario http-queueing-t3",
        ),
    ],
)
def test_runs_of_another_scenario_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    other = run({"seed": 1}, id="a run", flows=[], goodput_mbps={"down": 2.0})
    assert main(["model", *words, str(write(tmp_path / "other", [other]))]) == 1
    assert capsys.readouterr().err == f"apbed: {line}\n"


def test_commands_print_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eq. 8 for d = 2 is 2.90 Mb/s; eq. 14 for 2000 bytes is 1.68 + 2 x 3.55 = 8.8 ms."""
    uploads = write(tmp_path / "up", upload_runs())
    assert main(["model", "ack-skipping", "--beside", str(uploads)]) == 0
    said = capsys.readouterr().out
    assert "| 1 | 3.1% |" in said
    assert "| 125 kB | 16 | 2 | 1 | 64 | 1.00 | +66.7% | 2.0, 4.0 | 2.2, 5.0 |" in said
    assert "| 125 kB | 16 | 2 | 1 | 64 | 6, 8 | 0, 0 | 0, 0 | 1 |" in said

    downloads = run({"seed": 1, EVERY: 2}, goodput_mbps={"down": 2.61})
    downloads["tcp"] = {"wired": {"InSegs": 50, "OutSegs": 100}}
    beside = str(write(tmp_path / "down", [downloads]))
    assert main(["model", "http-queueing", "--beside", beside]) == 0
    assert "| 1 | 2 | 2.90 | 2.61 | -10.0% | 2.00 | 0.050 |" in capsys.readouterr().out

    session = run({"seed": 1, EVERY: 3})
    session["transfers"] = [{"bytes": 2000, "response_s": 0.01}, {"bytes": 9, "response_s": None}]
    beside = str(write(tmp_path / "web", [session]))
    assert main(["model", "http-queueing", "--sessions", beside]) == 0
    assert "| 3 | 1 | 1 | 8.8 | 10.0 | +13.8% | 0 |" in capsys.readouterr().out


def test_the_report_draws_downloads_by_segments_per_ack(tmp_path: Path) -> None:
    """Where runs differ in that, and only there."""
    directory = fabricated.experiment(tmp_path, seeds=(1, 2), rates={"pfifo limit 100": (2.0, 0)})
    for every, run_dir in enumerate(sorted((directory / "runs").iterdir()), start=1):
        one = json.loads((run_dir / "run.json").read_text())
        one["plan"]["flows"] = [flow for flow in one["plan"]["flows"] if flow["dir"] == "down"]
        fabricated.write(run_dir / "run.json", one)
        counters = {"wired": {"InSegs": 9000 // every, "OutSegs": 9000}}
        fabricated.write(run_dir / "counters.json", counters)
    assert "Fewer ACKs" not in written(directory)
    assert not (directory / "acks.png").exists()
    for every, run_dir in enumerate(sorted((directory / "runs").iterdir()), start=1):
        params = json.loads((run_dir / "run.json").read_text())["params"]
        fabricated.edit(run_dir / "run.json", params=params | {EVERY: every})
    assert "Fewer ACKs" in written(directory)
    assert (directory / "acks.png").read_bytes().startswith(b"\x89PNG")


def written(directory: Path) -> str:
    """The report's page."""
    summary.summarize(directory)
    return report.write_report(directory).read_text()


def test_gains_are_drawn_of_runs_that_differ_in_skipped_acks() -> None:
    """Also where the run without skipping failed for one seed; not where nothing was skipped."""
    runs = upload_runs()
    for one in runs:
        one["transfers"] = [transfer | {"dir": "up"} for transfer in one["transfers"]]
    assert ack_plots.thinner_acks(runs) is not None
    assert ack_plots.thinner_acks(runs[1:]) is not None
    assert ack_plots.thinner_acks(runs[:2]) is None
    assert ack_plots.thinner_acks([]) is None
