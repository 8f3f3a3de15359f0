# SPDX-License-Identifier: GPL-2.0-only
"""Each cause that makes a run invalid, one at a time, in an otherwise valid run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from apbed.analysis import summary, validity
from guest import processor
from tests.apbed import fabricated_run as fabricated


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A valid run under LAS-ACK."""
    return fabricated.run_directory(tmp_path / "run")


def test_good_runs_are_valid(run_dir: Path, tmp_path: Path) -> None:
    """A valid run has no reason against it, with and without a bound below the scheduler."""
    assert validity.why_invalid(run_dir) is None
    alone = fabricated.run_directory(tmp_path / "alone", "fq_codel")
    for name in ("qdisc_start.json", "qdisc.json"):
        (_, leaf) = json.loads((alone / name).read_text())
        fabricated.write(alone / name, [leaf | {"root": True, "parent": None}])
    fabricated.edit(alone / "guest.json", qdisc_expected=["fq_codel"])
    assert validity.why_invalid(alone) is None


def set_qdiscs(run_dir: Path, qdiscs: list[dict[str, object]]) -> None:
    """The same queues at both snapshots."""
    for name in ("qdisc_start.json", "qdisc.json"):
        fabricated.write(run_dir / name, qdiscs)


def noqueue(run_dir: Path) -> None:
    """The module was refused and the device stayed as it was."""
    set_qdiscs(run_dir, [{"kind": "noqueue", "handle": "0:", "root": True, "packets": 0}])


def no_qdisc(run_dir: Path) -> None:
    """tc shows nothing at all."""
    set_qdiscs(run_dir, [])


def other_kind(run_dir: Path) -> None:
    """The bound is there, but not the scheduler under it."""
    fabricated.write(run_dir / "qdisc_start.json", fabricated.qdiscs("pfifo", 0))
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("pfifo", fabricated.FRAMES))


def no_bound(run_dir: Path) -> None:
    """The scheduler is there, but not the bound above it."""
    leaf = fabricated.qdiscs("lasack", fabricated.FRAMES)[1]
    set_qdiscs(run_dir, [leaf | {"root": True}])


def replaced_in_the_run(run_dir: Path) -> None:
    """Right at the start, something else at the end."""
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("pfifo", fabricated.FRAMES))


def counted_too_few(run_dir: Path) -> None:
    """A tenth of what the medium got did not come through the scheduler."""
    packets = 10 + fabricated.FRAMES * 9 // 10
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", packets))


def counted_too_many(run_dir: Path) -> None:
    """2 % more than the medium got."""
    packets = 10 + fabricated.FRAMES * 102 // 100
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", packets))


def counted_nothing(run_dir: Path) -> None:
    """No packet, even if the medium saw none either."""
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10))
    medium = fabricated.medium(1)
    medium["stations"][0]["data_frames_in"] = 0
    fabricated.write(run_dir / "medium.json", medium)


def no_access_point(run_dir: Path) -> None:
    """The medium knows no station named ap."""
    fabricated.edit(run_dir / "medium.json", stations=[])


def failed(run_dir: Path) -> None:
    """The watchdog ended it."""
    why = "no virtual second for 60 s; python3 was running"
    fabricated.edit(run_dir / "status.json", state="failed", why=why)


def failed_silently(run_dir: Path) -> None:
    """Failed without a reason."""
    fabricated.edit(run_dir / "status.json", state="failed", why=None)


def guest_error(run_dir: Path) -> None:
    """A step of the guest's script."""
    fabricated.edit(run_dir / "guest.json", errors=["insmod: invalid module format"])


def flow_error(run_dir: Path) -> None:
    """A flow whose sender failed."""
    path = run_dir / "flows" / "up1.jsonl"
    sender = json.loads(path.read_text().splitlines()[-1]) | {"error": "Connection refused"}
    with path.open("a") as stream:
        stream.write(json.dumps(sender) + "\n")


def silence(run_dir: Path) -> None:
    """Nobody heard anything: nothing says that the set-up works."""
    for path in (run_dir / "flows").iterdir():
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(one | {"bytes": 0}) + "\n" for one in entries))


def no_receiver(run_dir: Path) -> None:
    """A flow of which only the sender left a record."""
    path = run_dir / "flows" / "down1.jsonl"
    sender = [line for line in path.read_text().splitlines(keepends=True) if '"sender"' in line]
    path.write_text("".join(sender))


def no_client(run_dir: Path) -> None:
    """An upload whose client was killed."""
    path = run_dir / "flows" / "up1.jsonl"
    receiver = [line for line in path.read_text().splitlines(keepends=True) if "sender" not in line]
    path.write_text("".join(receiver))


def broken_record(run_dir: Path) -> None:
    """A line cut off in the middle."""
    path = run_dir / "flows" / "down1.jsonl"
    path.write_text(path.read_text()[:-40])


def no_integrity(run_dir: Path) -> None:
    """A medium that does not say whether it lost anything."""
    fabricated.edit(run_dir / "medium.json", integrity={})


CAUSES: list[tuple[Callable[[Path], None], str]] = [
    (noqueue, "noqueue instead of inflight > lasack"),
    (no_qdisc, "no qdisc instead of"),
    (other_kind, "inflight > pfifo instead of inflight > lasack"),
    (no_bound, "lasack instead of inflight > lasack"),
    (replaced_in_the_run, "inflight > pfifo instead of"),
    (counted_too_few, "lasack sent 10800 packets but the medium got 12000"),
    (counted_too_many, "lasack sent 12240 packets but the medium got 12000"),
    (counted_nothing, "no packet went through lasack"),
    (no_access_point, "no station named ap"),
    (failed, "no virtual second"),
    (failed_silently, "the run failed"),
    (guest_error, "in the guest: insmod"),
    (flow_error, "flow up1 failed at the sender: Connection refused"),
    (silence, "no flow received a byte"),
    (no_receiver, "flow down1 has no record of its receiver"),
    (no_client, "flow up1 has no record of its client"),
    (broken_record, "down1.jsonl line"),
    (no_integrity, "did not report its integrity"),
]


@pytest.mark.parametrize(("spoil", "reason"), CAUSES, ids=[cause[0].__name__ for cause in CAUSES])
def test_cause(run_dir: Path, spoil: Callable[[Path], None], reason: str) -> None:
    """One cause, one line that names it."""
    spoil(run_dir)
    why = validity.why_invalid(run_dir)
    assert why is not None and reason in why
    assert "\n" not in why
    run = summary.summarize_run(run_dir)
    assert run["valid"] is False and run["why_invalid"] == why


@pytest.mark.parametrize("name", fabricated.medium(1)["integrity"])
def test_each_integrity_counter(run_dir: Path, name: str) -> None:
    """One lost frame is too many."""
    integrity = fabricated.medium(1)["integrity"] | {name: 1}
    fabricated.edit(run_dir / "medium.json", integrity=integrity)
    assert validity.why_invalid(run_dir) == f"the medium was not intact: {name} 1"


@pytest.mark.parametrize("name", [*validity.OBJECTS, *validity.LISTS, "dmesg.log", "console.log"])
def test_each_file(run_dir: Path, name: str) -> None:
    """A file that is missing or cut off."""
    text = (run_dir / name).read_text()
    (run_dir / name).unlink()
    assert name in (validity.why_invalid(run_dir) or "")
    if name.endswith(".json"):
        (run_dir / name).write_text(text[: len(text) // 2])
        assert name in (validity.why_invalid(run_dir) or "")


def test_small_differences_are_packets_in_flight(run_dir: Path) -> None:
    """1 % of 12000 frames is 120; of 100 frames, 16 packets may be on their way."""
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 + 120))
    assert validity.why_invalid(run_dir) is None
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 + 121))
    assert validity.why_invalid(run_dir) is not None
    medium = fabricated.medium(1)
    medium["stations"][0]["data_frames_in"] = 100
    fabricated.write(run_dir / "medium.json", medium)
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 116))
    assert validity.why_invalid(run_dir) is None


def test_a_sleeping_stations_datagrams_may_be_dropped_below(run_dir: Path) -> None:
    """300 went to it, so up to 300 more than usual may be missing in the air; none may be more."""
    run = json.loads((run_dir / "run.json").read_text())
    run["plan"]["flows"][2] |= {"dir": "pulse_down", "bytes": 160}
    fabricated.write(run_dir / "run.json", run)
    sent = {"event": "flow", "id": "down1", "side": "sender", "bytes": 300 * 160, "error": None}
    sent |= dict.fromkeys(("first_byte_s", "end_s", "retrans"))
    lines = [sent | {"start_s": 4.0}, sent | {"start_s": 4.0, "side": "receiver"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (run_dir / "flows" / "down1.jsonl").write_text(text)
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 + 420))
    assert "sent 12420 packets" in (validity.why_invalid(run_dir) or "")
    station = run["plan"]["flows"][2]["station"]
    run["plan"]["sleeps"] = [{"station": station, "start_s": 5, "seconds": 9}]
    fabricated.write(run_dir / "run.json", run)
    assert validity.why_invalid(run_dir) is None
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 + 421))
    assert validity.why_invalid(run_dir) is not None
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 - 121))
    assert validity.why_invalid(run_dir) is not None


def test_a_sleeping_stations_segments_may_be_dropped_below(run_dir: Path) -> None:
    """950 segments went to it and 850 arrived, so up to 100 more than usual may be missing."""
    run = json.loads((run_dir / "run.json").read_text())
    station = run["plan"]["flows"][2]["station"]
    assert run["plan"]["flows"][2]["dir"] == "down"
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 + 220))
    with (run_dir / "flows" / "down1.jsonl").open() as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        if line["event"] == "flow":
            line["segments"] = {"sender": 950, "receiver": 850}[line["side"]]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (run_dir / "flows" / "down1.jsonl").write_text(text)
    assert "sent 12220 packets" in (validity.why_invalid(run_dir) or "")
    run["plan"]["sleeps"] = [{"station": station, "start_s": 5, "seconds": 12}]
    fabricated.write(run_dir / "run.json", run)
    assert validity.why_invalid(run_dir) is None
    fabricated.write(run_dir / "qdisc.json", fabricated.qdiscs("lasack", 10 + 12000 + 221))
    assert "sent 12221 packets" in (validity.why_invalid(run_dir) or "")


# First lines of the kernel's own reports, from kernel/panic.c, mm/kasan/report.c, lib/ubsan.c,
# mm/kmemleak.c, kernel/locking/lockdep.c, lib/bug.c, kernel/hung_task.c, net/core/dev.c.
REPORTS = [
    "WARNING: CPU: 0 PID: 45 at net/sched/sch_generic.c:512 dev_watchdog+0x20c/0x218",
    "BUG: KASAN: slab-use-after-free in lasack_dequeue+0x44/0x190 [sch_lasack]",
    "BUG: unable to handle page fault for address: 0000000000001000",
    "BUG: sleeping function called from invalid context at kernel/locking/mutex.c:283",
    "kernel BUG at net/core/skbuff.c:112!",
    "Oops: general protection fault, probably for non-canonical address",
    "UBSAN: array-index-out-of-bounds in net/sched/sch_lasack.c:200:10",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "WARNING: suspicious RCU usage",
    "WARNING: possible circular locking dependency detected",
    "WARNING: inconsistent lock state",
    "INFO: task kworker/0:1:12 blocked for more than 122 seconds.",
    "INFO: rcu_sched self-detected stall on CPU",
    "Kernel panic - not syncing: Attempted to kill init!",
    "unregister_netdevice: waiting for wlan0 to become free. Usage count = 2",
    "Call Trace:",
]
HARMLESS = [
    "Linux version 6.1.192-lab (apbed@lab) (gcc (Debian 12.2.0-14+deb12u1) 12.2.0)",
    "kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)",
    "cfg80211: Loading compiled-in X.509 certificates for regulatory database",
    "sch_lasack: loading out-of-tree module taints kernel.",
    "wlan1: associated",
    "random: crng init done",
    "Debugging features: lockdep, KFENCE off",
]


@pytest.mark.parametrize("name", ["dmesg.log", "console.log"])
@pytest.mark.parametrize("report", REPORTS)
def test_kernel_reports(run_dir: Path, name: str, report: str) -> None:
    """A report in either log makes the run invalid and is quoted."""
    (run_dir / name).write_text(f"[    1.0] wlan1: associated\n[    2.000000] {report}\n")
    why = validity.why_invalid(run_dir)
    assert why is not None and report in why and name in why


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless_lines(line: str) -> None:
    """What a healthy kernel prints."""
    assert validity.kernel_warning(f"[    1.000000] {line}\n") is None


def test_a_plan_in_other_terms_makes_a_run_invalid(run_dir: Path) -> None:
    """As an earlier apbed wrote it: no metric of such a run means anything."""
    run = json.loads((run_dir / "run.json").read_text())
    run["plan"]["schema"] -= 1
    fabricated.write(run_dir / "run.json", run)
    assert "no plan that this apbed can read" in (validity.why_invalid(run_dir) or "")
    found = summary.summarize_run(run_dir)
    assert found["valid"] is False and found["flows"] == []


def test_a_busy_processor_is_no_measure_of_a_queue(run_dir: Path) -> None:
    """Where code takes time, the processor must have been idle now and then."""
    fabricated.edit(run_dir / "guest.json", idle_share=0.3)
    assert validity.why_invalid(run_dir) is None
    fabricated.edit(run_dir / "guest.json", idle_share=0.012)
    why = validity.why_invalid(run_dir)
    assert why == "not comparable: the processor was idle for 1.2% of the time, so it decided"


def test_of_several_processors_one_alone_must_not_decide(run_dir: Path) -> None:
    """A program keeps one of them busy at most: of two, half of their time, of four a quarter."""
    for processors, enough, too_little in ((2, 0.525, 0.524), (4, 0.7625, 0.762)):
        fabricated.edit(run_dir / "guest.json", processors=processors, idle_share=enough)
        assert validity.why_invalid(run_dir) is None
        fabricated.edit(run_dir / "guest.json", idle_share=too_little)
        why = validity.why_invalid(run_dir) or ""
        assert why.startswith(f"not comparable: {processors} processors were idle for")


def test_in_real_time_the_emulator_must_not_have_waited(run_dir: Path) -> None:
    """Nor may it be unknown. In virtual time it changes nothing, so nobody asks."""
    fabricated.edit(run_dir / "status.json", wall_s=100.0, waited_s=50.0)
    assert validity.why_invalid(run_dir) is None
    fabricated.edit(run_dir / "status.json", real_time=True)
    assert validity.why_invalid(run_dir) == (
        "not comparable: the host was busy; in 100 s of real time the emulator waited 50.0 s "
        "for a processor"
    )
    fabricated.edit(run_dir / "status.json", waited_s=5.0)
    assert validity.why_invalid(run_dir) is None
    fabricated.edit(run_dir / "status.json", waited_s=None)
    assert "the host does not say" in (validity.why_invalid(run_dir) or "")


def test_idle_is_idle_or_waiting_for_a_disk(tmp_path: Path) -> None:
    """proc(5): user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  10 0 20 100 5 1 4 0 7 0\ncpu0 10 0 20 100 5 1 4 0 7 0\n")
    begin = processor.times(stat)
    assert (begin.idle, begin.all) == (105, 140)
    stat.write_text("cpu  20 0 40 160 15 1 4 0 17 0\n")
    assert processor.idle_share(begin, processor.times(stat)) == 0.7
    assert processor.idle_share(begin, begin) is None
