# SPDX-License-Identifier: GPL-2.0-only
"""Writes run directories as the guest and the runner leave them, without running anything.

The goodputs per connection are made up near what the demo gives: FIFO 0.22 / 2.35 Mb/s, fq_codel
0.05 / 2.53, LAS-ACK 1.28 / 1.35. What a test expects is computed from these numbers, not by apbed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apbed.scenario import catalogue, parse

T0_S = 3.7
DURATION_S, WARMUP_S = 40.0, 5.0
MEASURED = {
    "pfifo limit 100": (0.22, 2.35),
    "fq_codel limit 100": (0.05, 2.53),
    "lasack limit 100 inflight off": (1.28, 1.35),
}
FLOWS = (("up1", "up"), ("up2", "up"), ("down1", "down"), ("down2", "down"))
FRAMES = 12000


def write(path: Path, value: Any) -> None:
    """A JSON file."""
    path.write_text(json.dumps(value) + "\n")


def edit(path: Path, **changes: Any) -> None:
    """Replace keys of a JSON object in a file."""
    write(path, json.loads(path.read_text()) | changes)


def experiment(
    directory: Path, seeds: tuple[int, ...] = (1,), rates: dict[str, tuple[float, float]] = MEASURED
) -> Path:
    """A whole experiment: manifest and one run per scheduler and seed. Returns `directory`."""
    runs = []
    for words, (down, up) in rates.items():
        for seed in seeds:
            run_id = f"{words.replace(' ', '-')}_seed-{seed}"
            runs.append(run_id)
            run_directory(directory / "runs" / run_id, words, down, up, seed)
    manifest = {
        "schema": 1,
        "scenario": "demo",
        "title": "Two uploads and two downloads through one 802.11b access point",
        "source": "up-down-fairness, section III, dl2-ul2, M = 7, Q = 100",
        "seeds": list(seeds),
        "wall_s": dict.fromkeys(runs, 36.6),
        "runs": runs,
        "kernels": {
            "default": {
                "release": "6.1.192-lab",
                "key": "0123456789abcdef",
                "sha256": {"flowgen": "ab" * 32, "sch_lasack.ko": "cd" * 32},
            }
        },
    }
    write(directory / "manifest.json", manifest)
    return directory


def run_directory(
    path: Path,
    words: str = "lasack limit 100 inflight off",
    down: float = 1.28,
    up: float = 1.35,
    seed: int = 1,
    noise: float = 0.2,
) -> Path:
    """One valid run whose connections have mean goodputs `down` and `up` in Mb/s.

    Without `noise` they have them in every second. Returns `path`.
    """
    (path / "flows").mkdir(parents=True)
    kind = words.split()[0]
    run = {"schema": 2, "id": path.name, "scenario": "demo", "inputs_hash": "00" * 32}
    run |= {"params": {"qdisc": words, "inflight": 1, "seed": seed, "kernel": "6.1.192-lab"}}
    write(path / "run.json", run | {"plan": plan(words, seed)})
    status = {"schema": 1, "state": "done", "why": None, "virtual_s": 43.9, "wall_s": 36.6}
    write(path / "status.json", status)
    guest = {"schema": 1, "t0_s": T0_S, "t1_s": T0_S + DURATION_S, "errors": []}
    guest |= {"qdisc_expected": ["inflight", kind], "kernel_release": "6.1.192-lab"}
    write(path / "guest.json", guest)
    write(path / "qdisc_start.json", qdiscs(kind, 10))
    write(path / "qdisc.json", qdiscs(kind, 10 + FRAMES))
    write(path / "medium.json", medium(seed))
    write(path / "counters.json", {"wired": {"TCPTimeouts": 2, "InSegs": 9000, "OutRsts": 1}})
    (path / "dmesg.log").write_text("[    0.000000] Linux version 6.1.192-lab\n")
    (path / "console.log").write_text("reboot: Power down\n")
    randomness = random.Random(f"{words} {seed}")
    for name, direction in FLOWS:
        write_flow(path, name, direction, down if direction == "down" else up, randomness, noise)
    return path


def plan(words: str, seed: int) -> dict[str, Any]:
    """The demo's, with this scheduler."""
    settings = [f"ap.qdisc={words}", f"seed={seed}"]
    (run,) = parse.load(catalogue.find("demo"), settings).runs
    assert (run.plan.duration_s, run.plan.warmup_s) == (DURATION_S, WARMUP_S)
    assert [(flow.id, flow.dir) for flow in run.plan.flows] == list(FLOWS)
    return run.plan.to_json()


def qdiscs(kind: str, packets: int) -> list[dict[str, Any]]:
    """What `tc -s -j qdisc show` prints for a scheduler below a bound of one packet."""
    counts = {"bytes": packets * 1500, "packets": packets, "drops": 900, "backlog": 0, "qlen": 0}
    bound = {"kind": "inflight", "handle": "1:", "root": True, "options": {"limit": 1}}
    return [bound | counts, {"kind": kind, "handle": "2:", "parent": "1:1", "options": {}} | counts]


def medium(seed: int) -> dict[str, Any]:
    """dcfmedium's statistics of a run it lost nothing in."""
    airtime = {"success": 33.0, "collision": 1.6, "broadcast": 0.4, "idle": 5.0}
    names = ("lost", "overflow", "einval", "unknown_station", "queue_overflow", "malformed")
    return {
        "schema": 1,
        "profile": "hrdsss-11",
        "seed": seed,
        "virtual_s": DURATION_S,
        "digest": f"{seed:016x}",
        "tx": 30000,
        "collisions": 1830,
        "collision_probability": 0.061,
        "drops": 3,
        "airtime_s": airtime,
        "stations": [{"name": "ap", "frames_in": FRAMES + 400, "data_frames_in": FRAMES}],
        "integrity": dict.fromkeys(names, 0),
    }


def write_flow(
    path: Path, name: str, direction: str, mbps: float, randomness: random.Random, noise: float
) -> None:
    """Both ends' records of a connection with this mean goodput."""
    factors = [1 + noise * randomness.uniform(-1, 1) for _ in range(int(DURATION_S))]
    scale = mbps * len(factors) / sum(factors)
    each = [factor * scale for factor in factors]
    write_seconds(path, name, direction, each, start=T0_S + 0.004)


def write_seconds(
    path: Path, name: str, direction: str, mbps: Sequence[float], start: float = T0_S
) -> None:
    """Both ends' records, the receiver's with a sample each second: Mb/s of each."""
    receiver = {"schema": 1, "id": name, "side": "receiver"}
    lines, total = [], 0.0
    for second, rate in enumerate(mbps, start=1):
        total += rate * 1e6 / 8
        lines.append(receiver | {"event": "sample", "t_s": start + second, "bytes": round(total)})
    flow = receiver | {"event": "flow", "dir": direction, "bytes": round(total), "retrans": None}
    flow |= {"start_s": start, "connected_s": start, "first_byte_s": start}
    flow |= {"end_s": start + DURATION_S, "error": None}
    lines.append(flow)
    lines.append(flow | {"side": "sender", "retrans": 17, "bytes": round(total) + 4344})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (path / "flows" / f"{name}.jsonl").write_text(text)


def add_pulse(path: Path, name: str, delays_us: Sequence[Sequence[int]]) -> None:
    """Give a run a stream of 700 datagrams to sta1: the delays of those that came, in us, by
    flowgen's records, the first of them 6 s after t0 and a second apart."""
    size, sent = 160, 700
    run = json.loads((path / "run.json").read_text())
    pulse = {"id": name, "station": "sta1", "dir": "pulse_down", "start_s": 0.0, "bytes": size}
    run["plan"]["flows"].append(pulse | {"count": sent, "every_s": 0.05})
    write(path / "run.json", run)
    lines: list[dict[str, Any]] = [
        {"event": "delays", "side": "receiver", "t_s": T0_S + 6 + k, "us": list(us)}
        for k, us in enumerate(delays_us)
    ]
    end: dict[str, Any] = {"event": "flow", "start_s": T0_S, "first_byte_s": T0_S, "error": None}
    end |= {"end_s": T0_S + DURATION_S, "retrans": None}
    came = sum(map(len, delays_us))
    lines.append(end | {"side": "sender", "bytes": sent * size})
    lines.append(end | {"side": "receiver", "bytes": came * size})
    text = "".join(json.dumps({"id": name} | line) + "\n" for line in lines)
    (path / "flows" / f"{name}.jsonl").write_text(text)


def add_transfers(path: Path, transfers: list[tuple[str, int, float | None]]) -> None:
    """Give a run a workload: direction, bytes and response time in s (None: open at the end) of
    each transfer. They start a second apart, the first one 10 s after t0; the server hears of
    each 0.1 s later. An open one got no answer to its SYN: its client's record is the only one."""
    planned, lines = [], []
    for number, (direction, size, seconds) in enumerate(transfers):
        name, start = f"transfer-{number + 1}", T0_S + 10 + number
        plan = {"id": name, "station": "sta1", "dir": direction, "bytes": size}
        planned.append(plan | {"start_s": 10.0 + number})
        client, server = ("sender", "receiver") if direction == "up" else ("receiver", "sender")
        flow: dict[str, Any] = {"id": name, "dir": direction, "event": "flow"}
        flow |= {"error": None, "retrans": 0}
        if seconds is None:
            flow |= {"bytes": 0, "first_byte_s": None, "end_s": None}
        else:
            flow |= {"bytes": size, "first_byte_s": start + 0.1, "end_s": start + seconds}
            lines.append(flow | {"side": server, "start_s": start + 0.1})
        lines.append(flow | {"side": client, "start_s": start})
    run = json.loads((path / "run.json").read_text())
    run["plan"]["transfers"] = planned
    write(path / "run.json", run)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (path / "flows" / "workload-sta1.jsonl").write_text(text)


def end_transfer(path: Path, name: str, side: str, error: str) -> None:
    """Give a transfer that did not end an error at one side."""
    records = path / "flows" / "workload-sta1.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    ours = next(line for line in lines if line["id"] == name) | {"side": side, "error": error}
    others = [line for line in lines if (line["id"], line["side"]) != (name, side)]
    records.write_text("".join(json.dumps(line) + "\n" for line in [*others, ours]))


def only_transfers(path: Path, transfers: list[tuple[str, int, float | None]]) -> None:
    """The same without the long flows."""
    for record in (path / "flows").iterdir():
        record.unlink()
    run = json.loads((path / "run.json").read_text())
    run["plan"]["flows"] = []
    write(path / "run.json", run)
    add_transfers(path, transfers)
