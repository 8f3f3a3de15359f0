# SPDX-License-Identifier: GPL-2.0-only
"""`apbed export`, read by the programs it is for: flent itself, SQLite, CSV.

flent runs as a program of its own, as its users have it.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image

from apbed.cli import main
from tests.apbed import fabricated_run as fabricated

FLENT = Path(sys.executable).with_name("flent")
FIFO, LASACK = "pfifo-limit-100_seed-1", "lasack-limit-100-inflight-off_seed-1"
DOWN, UP = 0.25, 2.5  # Mb/s of each connection, in every second
# flowgen starts 4 ms after t0, so the first second has less.
FIRST = 1 - 0.004
# Lines in a legend have about 150; the curves of 40 s ten times as many.
LEGEND_PIXELS = 500
PULSE_MS = [[4.0], [1.0, 3.0], [], [7.0]]  # of the datagrams that came in seconds 0, 1, 2 and 3


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """FIFO with constant goodputs, and a run of LAS-ACK that is invalid."""
    directory = fabricated.experiment(tmp_path / "out", rates={"lasack limit 100": (1.0, 1.0)})
    manifest = directory / "manifest.json"
    fabricated.run_directory(
        directory / "runs" / FIFO, "pfifo limit 100", down=DOWN, up=UP, noise=0
    )
    (directory / "runs" / "lasack-limit-100_seed-1").rename(directory / "runs" / LASACK)
    run = directory / "runs" / LASACK
    fabricated.edit(run / "run.json", id=LASACK)
    fabricated.edit(run / "medium.json", integrity={"lost": 3})
    fabricated.edit(manifest, runs=[FIFO, LASACK])
    return directory


def export(directory: Path, *words: str | Path, status: int = 0) -> None:
    """The command; it must end with this status."""
    assert main(["export", str(directory), *map(str, words)]) == status


def flent(*words: str | Path) -> None:
    """The program as installed; it complains of nothing."""
    assert FLENT.exists(), f"there is no {FLENT}: make setup"
    done = subprocess.run([FLENT, *words], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "ERROR" not in said and "WARNING" not in said, said


def read_by_flent(data: Path) -> dict[str, list[float | None]]:
    """The series of a data file, and `x`, as flent's reader has them."""
    written = data.with_suffix(".csv")
    flent(data, "-f", "csv", "-o", written)
    with written.open(newline="") as file:
        header, *rows = csv.reader(file)
    names = ["x", *header[1:]]
    columns = ([row[k] for row in rows] for k in range(len(names)))
    return {
        name: [float(word) if word else None for word in column]
        for name, column in zip(names, columns, strict=True)
    }


def drawn_colours(picture: Path) -> int:
    """How many pixels of a picture have a colour: axes and text are grey, lines are not."""
    pixels = np.asarray(image.imread(picture))[..., :3]
    return int(np.count_nonzero(np.ptp(pixels, axis=-1) > 0.3))


def add_pulse(run_dir: Path, replaces: str) -> None:
    """Instead of a flow, a stream of datagrams up, of which those of PULSE_MS came."""
    run = json.loads((run_dir / "run.json").read_text())
    for flow in run["plan"]["flows"]:
        if flow["id"] == replaces:
            flow |= {"dir": "pulse", "bytes": 160, "count": 5, "every_s": 0.5}
            del flow["seconds"]
    fabricated.write(run_dir / "run.json", run)
    about = {"id": replaces, "side": "receiver", "event": "delays"}
    lines: list[dict[str, Any]] = [
        about | {"t_s": fabricated.T0_S + second + 1.0, "us": [1000 * ms for ms in each]}
        for second, each in enumerate(PULSE_MS)
    ]
    end = {"id": replaces, "event": "flow", "bytes": 800, "start_s": fabricated.T0_S}
    end |= {"first_byte_s": fabricated.T0_S, "end_s": None, "retrans": None, "error": None}
    lines += [end | {"side": "receiver"}, end | {"side": "sender"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (run_dir / "flows" / f"{replaces}.jsonl").write_text(text)


def test_flent_reads_a_run(experiment: Path) -> None:
    """Streams, sums and means of each second, under the names of flent's own test."""
    export(experiment, "--flent", status=1)
    data = experiment / "flent"
    assert [path.name for path in data.iterdir()] == [f"{FIFO}.flent.gz"]
    series = read_by_flent(data / f"{FIFO}.flent.gz")
    assert series["x"] == [second + 0.5 for second in range(40)]
    expected = {
        "TCP upload BE::1": UP,
        "TCP upload BE::2": UP,
        "TCP download BE::1": DOWN,
        "TCP download BE::2": DOWN,
        "TCP upload sum": 2 * UP,
        "TCP upload avg": UP,
        "TCP download sum": 2 * DOWN,
        "TCP download avg": DOWN,
        "TCP totals": 2 * (UP + DOWN),
    }
    for name, mbps in expected.items():
        assert series[name] == pytest.approx([FIRST * mbps] + [mbps] * 39, rel=1e-4), name


def test_flent_draws_a_run(tmp_path: Path) -> None:
    """Its default plot has lines in it; of a run without uploads and downloads there is nothing."""
    run = fabricated.run_directory(tmp_path / "run")
    export(run, "--flent", "--out", tmp_path / "data")
    flent(tmp_path / "data" / "run.flent.gz", "-p", "all_scaled", "-o", tmp_path / "plot.png")
    assert drawn_colours(tmp_path / "plot.png") > LEGEND_PIXELS


def test_flent_reads_a_one_way_delay(experiment: Path, tmp_path: Path) -> None:
    """Means of each second, a gap where no datagram came; one stream less in its direction."""
    run = experiment / "runs" / FIFO
    add_pulse(run, replaces="up2")
    export(run, "--flent", "--out", tmp_path / "data")
    data = tmp_path / "data" / f"{FIFO}.flent.gz"
    series = read_by_flent(data)
    assert series["VoIP::delay"] == [4.0, 2.0, None, 7.0] + [None] * 36
    assert series["TCP upload sum"] == series["TCP upload BE::1"]
    assert "TCP upload BE::2" not in series
    flent(data, "-p", "voip_delay", "-o", tmp_path / "plot.png")
    assert drawn_colours(tmp_path / "plot.png") > LEGEND_PIXELS


def test_flent_has_no_transfers(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says where they are; nothing is written."""
    fabricated.only_transfers(experiment / "runs" / FIFO, [("down", 20_000, 0.5)])
    export(experiment, "--flent", status=1)
    assert capsys.readouterr().err == (
        f"apbed: {FIFO} has transfers only, and flent draws none of them; "
        "--csv and --sqlite have their response times\n"
    )
    assert not list(experiment.glob("flent*"))


def query(database: Path, words: str) -> list[tuple[Any, ...]]:
    """What SQLite answers."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(words).fetchall()


def test_sqlite_is_laid_out_as_oml(experiment: Path) -> None:
    """Its four columns first, in every table; senders and metadata as its server has them."""
    export(experiment, "--sqlite", status=1)
    database = experiment / "results.sqlite"
    assert ("schema", "1") in query(database, "SELECT * FROM _experiment_metadata")
    assert query(database, "SELECT id, name FROM _senders ORDER BY id") == [(1, FIFO), (2, LASACK)]
    tables = [name for (name,) in query(database, "SELECT name FROM sqlite_master WHERE sql > ''")]
    measured = [name for name in tables if not name.startswith("_")]
    assert len(measured) == 9 and all(name.startswith("apbed_") for name in measured)
    for name in measured:
        columns = [row[1:3] for row in query(database, f"PRAGMA table_info({name})")]
        assert columns[:4] == [
            ("oml_sender_id", "INTEGER"),
            ("oml_seq", "INTEGER"),
            ("oml_ts_client", "REAL"),
            ("oml_ts_server", "REAL"),
        ]


def test_sqlite_holds_the_measurements(experiment: Path) -> None:
    """Sums over goodput give the mean goodputs; an invalid run has its reason and no figures."""
    run = experiment / "runs" / FIFO
    fabricated.add_transfers(run, [("down", 20_000, 0.5), ("up", 30_000, None)])
    export(experiment, "--sqlite", "--out", experiment / "x.db", status=1)
    database = experiment / "x.db"
    # The first second is in no mean: 5 s are warm-up.
    flows = query(database, "SELECT flow, dir, goodput_mbps FROM apbed_flow ORDER BY flow")
    expected = [("down1", DOWN), ("down2", DOWN), ("up1", UP), ("up2", UP)]
    assert [(flow, way) for flow, way, _ in flows] == [(f, f.rstrip("12")) for f, _ in expected]
    assert [mbps for *_, mbps in flows] == pytest.approx([mbps for _, mbps in expected], rel=1e-4)
    means = query(
        database,
        "SELECT avg(goodput_mbps) FROM apbed_goodput WHERE oml_ts_client > 5 GROUP BY flow",
    )
    assert [mean for (mean,) in means] == pytest.approx([DOWN, DOWN, UP, UP], rel=1e-4)
    assert query(database, "SELECT oml_seq FROM apbed_goodput") == [(k,) for k in range(1, 161)]
    assert query(
        database, "SELECT oml_ts_client, transfer, dir, size_bytes, response_s FROM apbed_transfer"
    ) == [
        (10.0, "transfer-1", "down", 20_000, pytest.approx(0.5)),
        (11.0, "transfer-2", "up", 30_000, None),
    ]
    assert query(
        database,
        "SELECT qdisc, seed, valid, why_invalid, ratio_down_up FROM apbed_run",
    ) == [
        ("pfifo limit 100", 1, 1, None, pytest.approx(DOWN / UP, rel=1e-4)),
        ("lasack limit 100", 1, 0, "the medium was not intact: lost 3", None),
    ]
    (counted,) = query(
        database,
        "SELECT count FROM apbed_qdisc WHERE qdisc = 'pfifo' AND counter = 'packets'",
    )
    assert counted == (10 + fabricated.FRAMES,)
    assert query(
        database, "SELECT machine, count FROM apbed_tcp WHERE counter = 'TCPTimeouts'"
    ) == [("wired", 2)]
    assert query(database, "SELECT station, tx FROM apbed_station") == [("ap", None)]
    (air,) = query(
        database, "SELECT tx, airtime_success_share, airtime_lost_share FROM apbed_medium"
    )
    assert air == (30000, pytest.approx(33 / 40), None)


def test_equal_runs_give_equal_files(experiment: Path, tmp_path: Path) -> None:
    """No time of writing, no order by chance."""
    for kind, name in (("--sqlite", "db"), ("--flent", "flent"), ("--csv", "csv")):
        for copy in "ab":
            export(experiment, kind, "--out", tmp_path / f"{name}-{copy}", status=1)
        first, second = tmp_path / f"{name}-a", tmp_path / f"{name}-b"
        pairs = zip(*(sorted(p.rglob("*")) or [p] for p in (first, second)), strict=True)
        for one, other in pairs:
            assert one.read_bytes() == other.read_bytes(), one


def read_csv(path: Path) -> tuple[str, list[list[str]]]:
    """The header line and the rows."""
    header, *lines = path.read_text().splitlines()
    return header, list(csv.reader(lines))


def test_csv_has_units_in_its_header(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file a measurement, gaps empty; the invalid run is named on stderr."""
    add_pulse(experiment / "runs" / FIFO, replaces="up2")
    export(experiment, "--csv", status=1)
    printed = capsys.readouterr()
    assert printed.out == f"{experiment / 'csv'}: 1 of 2 runs\n"
    assert printed.err == (
        f"apbed: left out, invalid: {LASACK}: the medium was not intact: lost 3\n"
    )
    names = ["delay", "flow", "goodput", "medium", "qdisc", "run", "station", "tcp", "transfer"]
    assert sorted(path.stem for path in (experiment / "csv").iterdir()) == names
    header, rows = read_csv(experiment / "csv" / "goodput.csv")
    assert header == "run,t_s,flow,station,dir,goodput_mbps"
    assert rows[1][:5] == [FIFO, "1.5", "up1", "sta1", "up"]
    assert float(rows[1][5]) == pytest.approx(UP, rel=1e-4)
    header, rows = read_csv(experiment / "csv" / "delay.csv")
    assert header == "run,t_s,flow,station,dir,kind,delay_ms"
    about = ["up2", "sta2", "pulse", "one-way"]
    expected = [(1.0, 4.0), (2.0, 1.0), (2.0, 3.0), (4.0, 7.0)]
    assert rows == [[FIFO, str(t_s), *about, str(ms)] for t_s, ms in expected]
    header, rows = read_csv(experiment / "csv" / "run.csv")
    assert header.startswith("run,t_s,qdisc,inflight,seed,kernel,valid,why_invalid,duration_s,")
    assert [len(row) for row in rows] == [len(header.split(","))] * 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere", "--csv"], "nowhere: no such directory"),
        (["out/manifest.json", "--csv"], "out/manifest.json: not a directory"),
        (["empty", "--flent"], "empty holds no runs; `apbed run SCENARIO --out DIR` makes some"),
        (["out", "--csv", "--out", "empty"], "empty exists; remove it, or give another --out"),
        (["out", "--csv", "--out", "x/y"], "cannot write x/y: No such file or directory"),
        (["out", "--sqlite", "--out", "x/y"], "cannot write x/y: unable to open database file"),
        (
            [f"out/runs/{LASACK}", "--sqlite"],
            f"out/runs/{LASACK} has no valid run to export; {LASACK}: "
            "the medium was not intact: lost 3",
        ),
        (
            ["out/runs/new", "--csv"],
            "out/runs/new has no valid run to export; new: "
            "the run did not end: status.json is missing",
        ),
    ],
)
def test_refusals_are_one_line(
    experiment: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: Sequence[str],
    says: str,
) -> None:
    """What is wrong, exit status 1, and nothing written."""
    monkeypatch.chdir(experiment.parent)
    Path("empty").mkdir()
    new = Path("out/runs/new")
    new.mkdir()
    run = json.loads(Path(f"out/runs/{FIFO}/run.json").read_text())
    fabricated.write(new / "run.json", run | {"id": "new"})
    before = sorted(Path().rglob("*"))
    assert main(["export", *words]) == 1
    assert capsys.readouterr().err == f"apbed: {says}\n"
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("key", ["t0_s", "t1_s"])
def test_a_run_without_its_times_is_left_out(
    experiment: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    """Nothing can be told of a run that does not say when its flows went."""
    guest = experiment / "runs" / FIFO / "guest.json"
    content = json.loads(guest.read_text())
    del content[key]
    fabricated.write(guest, content)
    export(experiment / "runs" / FIFO, "--csv", status=1)
    assert f"{FIFO}: guest.json does not say when its flows began" in capsys.readouterr().err


def test_a_format_is_needed(experiment: Path) -> None:
    """Usage errors have status 2."""
    for words in ([], ["--csv", "--flent"]):
        with pytest.raises(SystemExit) as ended:
            main(["export", str(experiment), *words])
        assert ended.value.code == 2
