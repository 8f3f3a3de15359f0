# SPDX-License-Identifier: GPL-2.0-only
"""Why a run must not be believed.

Principle: a run is right or it is invalid, never an outlier. A module that did not load, a
medium that lost a frame or a kernel that warned can leave results that look plausible, and
even good; so each run has to prove that nothing of the kind happened, and that its packets
went through the queue under test: what the scheduler sent must be what the medium was given, or,
with a radio that pulls from mac80211's own queues, what these let go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from apbed.analysis import own_queues
from apbed.analysis.measures import segments
from apbed.analysis.run_directory import (
    Json,
    read_flow_lines,
    read_flows,
    read_list,
    read_object,
    read_plan,
)

PACKETS_APART = 16  # in flight at either snapshot, and frames that are not IP
SHARE_APART = 0.01
IDLE_AT_LEAST = 0.05  # of a processor of the guest
WAITED_AT_MOST = 0.05  # of the time of a run in real time
OBJECTS_ON_A_GRID = ("run.json", "status.json", "guest.json")
OBJECTS = (*OBJECTS_ON_A_GRID, "medium.json")
LISTS = ("qdisc_start.json", "qdisc.json")

# What the kernel prints when something is wrong with the kernel.
KERNEL_WARNING = re.compile(
    r"WARNING:|BUG:|kernel BUG at|\bOops\b|Call Trace:|Kernel panic|general protection fault"
    r"|UBSAN:|suspicious RCU usage|possible (circular|recursive) locking|possible deadlock"
    r"|inconsistent lock state|INFO: (task|rcu|trying to register)|detected stall"
    r"|kmemleak: \d+ new|unreferenced object|unregister_netdevice: waiting"
)


def why_invalid(run_dir: Path) -> str | None:
    """One line saying why the run cannot be used, or None for a valid run."""
    checks: tuple[Callable[[Path], str | None], ...] = (
        _failed,
        _kernel_warned,
        _missing,
        _no_plan,
        _guest_error,
        _processor_busy,
        _host_busy,
        _medium_error,
        _flow_error,
        _wrong_qdisc,
        _bypassed_own_queues,
        _bypassed_qdisc,
    )
    return next((why for check in checks if (why := check(run_dir))), None)


def kernel_warning(log: str) -> str | None:
    """The first line of a kernel log that reports a fault in the kernel, or None."""
    return next((line.strip() for line in log.splitlines() if KERNEL_WARNING.search(line)), None)


def qdisc_chain(qdiscs: list[Json]) -> list[Json]:
    """A device's qdiscs from the root down, following the first child of each."""
    chain = [qdisc for qdisc in qdiscs if qdisc.get("root")][:1]
    while chain:
        below = [
            qdisc
            for qdisc in qdiscs
            if str(qdisc.get("parent", "")).split(":")[0] == _major(chain[-1])
            and qdisc not in chain
        ]
        if not below:
            break
        chain.append(below[0])
    return chain


def _major(qdisc: Json) -> str:
    return str(qdisc.get("handle", "")).split(":")[0]


def _failed(run_dir: Path) -> str | None:
    status = read_object(run_dir / "status.json")
    if status is None:
        return "the run did not end: status.json is missing"
    if status.get("state") != "done":
        return str(status.get("why") or "the run failed")
    return None


def _kernel_warned(run_dir: Path) -> str | None:
    for name in ("dmesg.log", "console.log"):
        try:
            log = (run_dir / name).read_text(errors="replace")
        except OSError:
            return f"{name} is missing"
        if line := kernel_warning(log):
            return f"kernel warning in {name}: {line}"
    return None


def _missing(run_dir: Path) -> str | None:
    for name in OBJECTS if _in_the_lab(run_dir) else OBJECTS_ON_A_GRID:
        if read_object(run_dir / name) is None:
            return f"{name} is missing or broken"
    for name in LISTS:
        if read_list(run_dir / name) is None:
            return f"{name} is missing or broken"
    return None


def _no_plan(run_dir: Path) -> str | None:
    """Metrics need the plan's flows; another apbed may have written it in other terms."""
    if read_plan(run_dir) is None:
        return "run.json has no plan that this apbed can read; run the scenario again"
    return None


def _guest_error(run_dir: Path) -> str | None:
    errors = _object(run_dir, "guest.json").get("errors")
    return f"in the guest: {errors[0]}" if errors else None


def _processor_busy(run_dir: Path) -> str | None:
    """Where code takes time, what was measured must not be how fast the processor is.

    Of several processors, one program alone can keep but one busy. So unless all of them together
    had less to do than one processor can do, the medium, for instance, may have been too slow.
    Runs of before this was recorded have no share.
    """
    guest = _object(run_dir, "guest.json")
    share, processors = guest.get("idle_share"), guest.get("processors", 1)
    if share is None or share >= 1 - (1 - IDLE_AT_LEAST) / processors:
        return None
    if processors == 1:
        return f"not comparable: the processor was idle for {share:.1%} of the time, so it decided"
    return (
        f"not comparable: {processors} processors were idle for {share:.1%} of the time, "
        "so one of them may have decided"
    )


def _host_busy(run_dir: Path) -> str | None:
    """In real time the emulator must have had a processor of the host whenever it needed one."""
    status = _object(run_dir, "status.json")
    if not status.get("real_time"):
        return None
    waited_s, wall_s = status.get("waited_s"), float(status["wall_s"])
    if waited_s is None:
        return "not comparable: the host does not say how long the emulator waited for a processor"
    if waited_s <= WAITED_AT_MOST * wall_s:
        return None
    return (
        f"not comparable: the host was busy; in {wall_s:.0f} s of real time the emulator "
        f"waited {waited_s:.1f} s for a processor"
    )


def _in_the_lab(run_dir: Path) -> bool:
    """Whether the air was dcfmedium's. On a grid the access point counts the frames it has sent."""
    return "frames_sent" not in _object(run_dir, "guest.json")


def _medium_error(run_dir: Path) -> str | None:
    if not _in_the_lab(run_dir):
        return None
    integrity = _object(run_dir, "medium.json").get("integrity")
    if not integrity:
        return "the medium did not report its integrity"
    counted = [f"{name} {count}" for name, count in integrity.items() if count]
    return f"the medium was not intact: {', '.join(counted)}" if counted else None


def _flow_error(run_dir: Path) -> str | None:
    """A transfer that TCP gave up on is a result, as one that had no time to end."""
    plan = read_plan(run_dir)
    traces = read_flows(run_dir, plan.flows + plan.sized if plan else ())
    starved = {trace.plan.id for trace in traces if trace.gave_up}
    try:
        for entry in read_flow_lines(run_dir):
            if entry["event"] == "flow" and entry["error"] and entry["id"] not in starved:
                return f"flow {entry['id']} failed at the {entry['side']}: {entry['error']}"
    except ValueError as error:
        return str(error)
    users = {one.id for one in plan.users} if plan else set()
    for trace in traces:
        if trace.plan.id in users and not trace.asked:
            continue  # the run ended before it was asked for
        if trace.receiver is None and not trace.unheard:
            return f"flow {trace.plan.id} has no record of its receiver"
        if trace.client is None:
            return f"flow {trace.plan.id} has no record of its client"
        if trace.client["start_s"] is None:
            return f"flow {trace.plan.id} was not started in time"
    if traces and not any(trace.receiver and trace.receiver["bytes"] for trace in traces):
        return "no flow received a byte"
    return None


def _wrong_qdisc(run_dir: Path) -> str | None:
    expected = list(_object(run_dir, "guest.json").get("qdisc_expected") or [])
    if not expected:
        return "guest.json does not say which qdisc was expected"
    for name in LISTS:
        kinds = [str(qdisc.get("kind")) for qdisc in qdisc_chain(_list(run_dir, name))]
        if kinds[: len(expected)] != expected:
            found = " > ".join(kinds) or "no qdisc"
            return f"the device had {found} instead of {' > '.join(expected)} ({name})"
    return None


def _bypassed_qdisc(run_dir: Path) -> str | None:
    """The medium is marked when qdisc_start.json is taken, so both count the same time."""
    below = own_queues.of_machine(run_dir, "ap")
    expected = _object(run_dir, "guest.json")["qdisc_expected"]
    if expected == ["noqueue"] and below is not None:
        return None  # it counts nothing; those below it do
    depth = len(expected)
    start, end = (qdisc_chain(_list(run_dir, name))[depth - 1] for name in LISTS)
    sent = int(end.get("packets", 0)) - int(start.get("packets", 0))
    frames = _frames(run_dir)
    if frames is None:
        return "the medium has no station named ap"
    if sent <= 0:
        return f"no packet went through {end.get('kind')}; the medium got {frames} frames"
    apart = max(PACKETS_APART, SHARE_APART * frames)
    kept = _withheld(run_dir)
    if below is not None:
        kept += below["drops"] + below["backlog_at_end"]
    if not -apart <= sent - frames <= apart + kept:
        return f"{end.get('kind')} sent {sent} packets but the medium got {frames} frames"
    return None


def _bypassed_own_queues(run_dir: Path) -> str | None:
    """What mac80211's own queues let go must be what the medium got."""
    plan, frames = read_plan(run_dir), _frames(run_dir)
    if plan is None or plan.ap.radio != "queues":
        return None
    queues = own_queues.of_machine(run_dir, "ap")
    if queues is None:
        return "mac80211.json does not say what waited in the access point's own queues"
    if frames is None:
        return "the medium has no station named ap"
    if not queues["packets"]:
        return f"no packet went through mac80211's queues; the medium got {frames} frames"
    apart = max(PACKETS_APART, SHARE_APART * frames)
    if abs(queues["packets"] - frames) > apart:
        return f"mac80211's queues sent {queues['packets']} packets, the medium got {frames} frames"
    return None


def _frames(run_dir: Path) -> int | None:
    """Data frames that the medium got from the access point, or None if it does not know it.

    On a grid its driver has counted them.
    """
    if not _in_the_lab(run_dir):
        return int(_object(run_dir, "guest.json")["frames_sent"])
    stations = _object(run_dir, "medium.json").get("stations", [])
    # With EDCA its other access categories are ap-bk, ap-vi and ap-vo.
    found = [one["data_frames_in"] for one in stations if one["name"].split("-")[0] == "ap"]
    return sum(found) if found else None


def _withheld(run_dir: Path) -> int:
    """How many packets mac80211 may have dropped that it held for stations that slept.

    It holds 64 for each access category, the newest, for ten seconds (net/mac80211:
    STA_MAX_TX_BUFFER, STA_TX_BUFFER_EXPIRE) and counts none of those it drops. At most all
    datagrams and all TCP segments that did not arrive were among them. Some of these the queue
    discipline dropped, which does not tell whose its drops were. QUIC and files are not excused.
    """
    plan = read_plan(run_dir)
    if plan is None:
        return 0
    sleepers = {sleep.station for sleep in plan.sleeps}
    flows = [flow for flow in plan.flows if flow.station in sleepers]
    traces = read_flows(run_dir, flows)
    datagrams = sum(trace.datagrams for trace in traces if trace.plan.dir == "pulse_down")
    down = segments.by_direction(traces)["down"] or {"sent": 0, "received": 0}
    return datagrams + max(0, int(down["sent"] - down["received"]))


def _object(run_dir: Path, name: str) -> Json:
    return read_object(run_dir / name) or {}


def _list(run_dir: Path, name: str) -> list[Json]:
    return read_list(run_dir / name) or []
