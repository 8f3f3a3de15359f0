# SPDX-License-Identifier: GPL-2.0-only
"""`apbed bench`: the plan, what is read of the guest, and the figures made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.bench import figures, iperf, measure
from apbed.bench.cells import HARNESS, REFERENCE, Cell, all_cells, quick_cells, words
from apbed.cli import main
from apbed.errors import ApbedError

CELL = Cell("100 flows, no hash", 100)


def order(rounds: int = 2) -> measure.Order:
    """Two kinds in one cell."""
    return measure.Order([CELL], [REFERENCE, "lasack"], rounds, batches=4, memory=False)


def turn(device: int, per_packet: int, disturbed: int = 0) -> str:
    """A line of the guest: four batches of 64 packets, one of them longer."""
    batch = 64 * per_packet
    return f"bench{device} {batch} {batch} {batch + disturbed} {batch} served 256 dropped 0"


def guest(*turns: str) -> list[str]:
    """What the guest prints for one cell."""
    return ["cell 0", *turns, "done 6.1.0-test"]


def test_costs_are_without_the_harness() -> None:
    lines = guest(turn(0, 100), turn(1, 300), turn(2, 500)) * 1
    lines = guest(*(lines[1:4] * 2))
    reference, lasack = figures.costs(order(), measure.parse(order(), lines))
    assert reference.cost.median == pytest.approx(200)
    assert lasack.cost.median == pytest.approx(400)
    assert lasack.ratio is not None
    assert lasack.ratio.median == pytest.approx(2.0)
    assert (lasack.served, lasack.dropped, lasack.disturbed) == (1.0, 0.0, 0)


def test_ratio_is_of_the_same_round() -> None:
    """A machine twice as slow in the second round changes no ratio."""
    first = [turn(0, 100), turn(1, 300), turn(2, 500)]
    second = [turn(0, 200), turn(1, 600), turn(2, 1000)]
    lasack = figures.costs(order(), measure.parse(order(), guest(*first, *second)))[1]
    assert lasack.ratio is not None
    assert (lasack.ratio.low, lasack.ratio.high) == pytest.approx((2.0, 2.0))


def test_disturbed_batch_is_left_out_and_counted() -> None:
    turns = [turn(0, 100), turn(1, 300), turn(2, 500, disturbed=10**6)] * 2
    lasack = figures.costs(order(), measure.parse(order(), guest(*turns)))[1]
    assert lasack.cost.median == pytest.approx(400)
    assert lasack.disturbed == 2


def test_guest_that_does_not_end_is_an_error() -> None:
    with pytest.raises(ApbedError, match=r"did not end.*Oops"):
        measure.parse(order(), ["cell 0", turn(0, 1), "Oops: 0002"])


def test_plan_sets_up_before_it_measures() -> None:
    lines = list(measure.plan(order()))
    assert lines[0] == "devices 3"
    assert [line.split()[2] for line in lines if line.startswith("qdisc")] == [
        HARNESS,
        REFERENCE,
        "lasack",
    ]
    assert lines[-1] == "measure 0"


def test_own_options_come_last() -> None:
    """tc takes the last of two, so a kind can say `limit` itself."""
    given = words("lasack limit 5", CELL).split()
    assert given[-2:] == ["limit", "5"]
    assert given.count("limit") == 2


def test_remembered_flows_are_compared_with_as_many_queues() -> None:
    remembered = [cell for cell in all_cells() if "remembered" in cell.name]
    assert remembered
    for cell in all_cells():
        has_its_own = " flows " not in words(REFERENCE, cell)
        assert has_its_own or f" flows {cell.flows}" in words(REFERENCE, cell)
        assert has_its_own is (cell not in remembered)


def limit(discipline: str, cell: Cell) -> int:
    """The limit in packets that tc is given."""
    given = words(discipline, cell).split()
    return int(given[given.index("limit") + 1])


@pytest.mark.parametrize("discipline", ["pfifo", "sfq", "fq", REFERENCE, "lasack", "ackwrr"])
@pytest.mark.parametrize("cell", all_cells(), ids=lambda cell: cell.name)
def test_limits_have_room_for_a_batch_unless_the_cell_is_about_drops(
    cell: Cell, discipline: str
) -> None:
    """Beyond what stays queued; of a GSO packet each of its 16 segments may count."""
    room = limit(discipline, cell) - cell.depth * (16 if cell.gso else 1)
    assert room == 0 if cell.overload else room >= 64 + 64  # a batch, and what is below


def test_names_are_unique() -> None:
    names = [cell.name for cell in all_cells()]
    assert len(set(names)) == len(names)
    assert {cell.name for cell in quick_cells()} < set(names)


def test_throughput_ratio() -> None:
    lines = ["iperf on 0 1000", "iperf on 1 400", "iperf off 0 500", "iperf off 1 500"]
    on, off = iperf.parse([REFERENCE, "lasack"], 1, [*lines, "done x"])[1::2]
    assert (on.gso, on.mbps.median, on.ratio.median) == (True, 0.4, 0.4)
    assert (off.gso, off.ratio.median) == (False, 1.0)


def test_throughput_of_a_guest_that_does_not_end() -> None:
    with pytest.raises(ApbedError, match="did not end"):
        iperf.parse([REFERENCE], 1, ["iperf on 0 1000"])


@pytest.mark.parametrize("said", ["iperf off 1 ", "iperf off 1 0", "iperf off 1 [ 12.3] Oops"])
def test_an_iperf3_that_fails_in_one_round_is_an_error(said: str) -> None:
    whole = [f"iperf {gso} {kind} 500" for gso in ("on", "off") for kind in (0, 1)]
    assert iperf.parse([REFERENCE, "lasack"], 2, [*whole, *whole, "done x"])
    with pytest.raises(ApbedError, match=r'"lasack", GSO off: 1 of 2 rounds; its console says why'):
        iperf.parse([REFERENCE, "lasack"], 2, [*whole, *whole[:3], said, "done x"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--kinds", "lasack;cake;lasack"], '--kinds: "lasack" is there twice'),
        (["--iperf", "--kinds", "cake;cake"], '--kinds: "cake" is there twice'),
        (["--kinds", "bench"], '--kinds: "bench" is what the others are measured with'),
        (["--cells", f"{CELL.name};{CELL.name}"], f'--cells: "{CELL.name}" is there twice'),
        (["--cells", "a"], 'no cell "a": `apbed bench --list` has their names'),
        (["--cpus", "2"], "--cpus: expected only with --iperf"),
        (["--instructions", "--cpus", "2"], "--cpus: expected without --instructions"),
        (["--instructions", "--kernel", "6.1"], "--kernel: expected without --instructions"),
        (["--iperf", "--kernel", "6.1"], "--kernel: expected without --iperf"),
        (["--iperf", "--cells", CELL.name], "--cells: expected without --iperf"),
        (["--iperf", "--instructions"], "--instructions: expected without --iperf"),
        (["--list", "--quick"], "--quick: expected without --list"),
    ],
)
def test_what_changes_nothing_is_refused_before_it_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert main(["bench", *words, "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == f"apbed: {line}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--rounds", "--cpus"])
@pytest.mark.parametrize("word", ["0", "-1", "two"])
def test_there_is_at_least_one(capsys: pytest.CaptureFixture[str], option: str, word: str) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--iperf", option, word])
    assert f"{option}: '{word}': expected a whole number of at least 1" in capsys.readouterr().err


def test_lab_kernel_serves_what_is_offered(tmp_path: Path) -> None:
    """The module itself: each kind serves what it gets, and GSO packets are cut or whole."""
    kinds = [REFERENCE, "cake", "lasack", "ackwrr", "inflight limit 64", "pfifo"]
    whole = Cell("few", 10)
    cut = Cell("cut", 10, acks=0, gso=True)
    flooded = Cell("flooded", 10, overload=2, queued=100)
    result = measure.Order([whole, cut, flooded], kinds, rounds=1, batches=4, memory=False)
    costs = figures.costs(result, measure.in_lab(result, tmp_path))
    of = {(cost.cell, cost.kind): cost for cost in costs}
    for kind in kinds:
        assert of["few", kind].served == 1.0, kind
        assert of["few", kind].dropped == of["cut", kind].dropped == 0.0, kind
    assert of["cut", "pfifo"].served == 1.0
    assert of["cut", "cake"].served == pytest.approx(16, abs=1)  # segments of a packet
    for kind in (REFERENCE, "lasack", "pfifo"):
        assert of["flooded", kind].served == 0.5, kind
        assert of["flooded", kind].dropped == pytest.approx(0.5, abs=0.1), kind
