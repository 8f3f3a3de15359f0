# SPDX-License-Identifier: GPL-2.0-only
"""The table, the page and the pictures of fabricated experiments."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from apbed.analysis import comparison, plots, report, summary, table
from apbed.cli import main
from apbed.errors import ApbedError
from tests.apbed import fabricated_run as fabricated


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Three schedulers, two seeds, and one run of LAS-ACK that is invalid."""
    directory = fabricated.experiment(tmp_path / "out", seeds=(1, 2))
    lost = {"lost": 3}
    fabricated.edit(
        directory / "runs" / "lasack-limit-100-inflight-off_seed-2" / "medium.json", integrity=lost
    )
    return directory


def rows_of(directory: Path) -> list[comparison.Row]:
    """The rows of an experiment."""
    return comparison.compare(summary.summarize(directory))


def test_rows_average_valid_runs_only(experiment: Path) -> None:
    """The invalid run of LAS-ACK stands apart."""
    fifo, fq_codel, lasack = rows_of(experiment)
    assert [row.name for row in (fifo, fq_codel, lasack)] == ["FIFO", "fq_codel", "LAS-ACK"]
    assert [len(row.runs) for row in (fifo, fq_codel, lasack)] == [2, 2, 1]
    assert [run["why_invalid"] for run in lasack.invalid] == ["the medium was not intact: lost 3"]
    assert fifo.up_each is not None and lasack.ratio is not None
    assert fifo.up_each.n == 2 and lasack.ratio.n == 1
    assert fifo.up_each.low <= fifo.up_each.mean <= fifo.up_each.high
    assert fifo.up_each.mean == pytest.approx(2.35, rel=0.02)


def test_total_is_compared_with_fifo_under_the_same_conditions(tmp_path: Path) -> None:
    """Two kernels: each scheduler meets the FIFO of its own kernel."""
    directory = fabricated.experiment(tmp_path)
    result = summary.summarize(directory)
    for factor, kernel in ((1.0, "6.1"), (2.0, "7.2")):
        for run in list(result["runs"][:3]):
            copy: dict[str, Any] = json.loads(json.dumps(run))
            copy["params"]["kernel"] = kernel
            copy["goodput_mbps"]["total"] *= factor
            result["runs"].append(copy)
    del result["runs"][:3]
    rows = comparison.compare(result)
    assert [row.name for row in rows][:3] == [
        "FIFO, kernel 6.1",
        "fq_codel, kernel 6.1",
        "LAS-ACK, kernel 6.1",
    ]
    shares = [comparison.relative_total(row, rows) for row in rows]
    assert shares[0] == shares[3] == pytest.approx(1.0)
    assert shares[2] == pytest.approx(shares[5])


def test_same_kind_twice_is_told_apart_by_its_words(tmp_path: Path) -> None:
    """`lasack limit 100` and `lasack limit 20` are two rows with their own names."""
    rates = {"lasack limit 100": (1.28, 1.35), "lasack limit 20": (1.12, 1.47)}
    names = [row.name for row in rows_of(fabricated.experiment(tmp_path, rates=rates))]
    assert names == ["lasack limit 100", "lasack limit 20"]


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "even"),
        (0.85, "even"),
        (1.15, "even"),
        (0.5, "uploads 2.0x"),
        (0.02, "uploads 50x"),
        (3.0, "downloads 3.0x"),
        (0.0, "uploads only"),
        (None, "not known"),
    ],
)
def test_verdict(ratio: float | None, words: str) -> None:
    """The issue's band for LAS-ACK, 0.85 to 1.15, is called even."""
    assert table.verdict(ratio) == words


def test_table_is_plain_and_fits(experiment: Path) -> None:
    """80 columns, no escape sequences when piped, one line per scheduler, invalid ones told."""
    text = table.render_table(summary.summarize(experiment), color=False)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    lasack = next(line for line in text.splitlines() if line.startswith("LAS-ACK"))
    assert lasack.endswith("even")
    fifo = next(line for line in text.splitlines() if line.startswith("FIFO"))
    assert "uploads 11x" in fifo or "uploads 10x" in fifo
    assert "1 of 6 runs are invalid" in text
    assert "\x1b" in table.render_table(summary.summarize(experiment), color=True)


def test_a_report_says_what_the_runs_cost(experiment: Path) -> None:
    """Six runs of 600 s; invalid ones cost as much. Of runs of before, nobody knows."""
    ids = [run["id"] for run in summary.summarize(experiment)["runs"]]
    assert "core hours" not in report.write_report(experiment).read_text()
    fabricated.edit(experiment / "manifest.json", processor_s=dict.fromkeys(ids, 600.0))
    assert "1.00 core hours" in Page(report.write_report(experiment).read_text()).words
    fabricated.edit(experiment / "manifest.json", processor_s=dict.fromkeys(ids[:3], 600.0))
    words = Page(report.write_report(experiment).read_text()).words
    assert "0.50 core hours for 3 of its runs" in words


def test_table_without_a_valid_run(tmp_path: Path) -> None:
    """Nothing is made up."""
    directory = fabricated.experiment(tmp_path)
    for path in directory.glob("runs/*/medium.json"):
        path.unlink()
    text = table.render_table(summary.summarize(directory), color=False)
    assert text.count("no valid run") == 3
    assert report.write_report(directory).exists()


class Page(HTMLParser):
    """Collects what a page loads and whether its tags are balanced."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "iframe")
        if tag not in self.VOID:
            self.open.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "img":
            assert dict(attrs).get("alt")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_page_is_self_contained(experiment: Path) -> None:
    """Balanced HTML; every picture is inside; no script and nothing from elsewhere."""
    summary.summarize(experiment)
    text = report.write_report(experiment).read_text()
    page = Page(text)
    assert page.open == []
    assert page.sources and all(source.startswith("data:image/") for source in page.sources)
    assert "url(" not in text and "@import" not in text
    assert "medium was not intact: lost 3" in page.words
    assert "5 of 6 runs valid" in page.words
    assert re.search(r"Under LAS-ACK a download gets 0\.9\d times what an upload gets", page.words)


def test_page_escapes_what_it_is_given(experiment: Path) -> None:
    """A title or a reason cannot become markup."""
    fabricated.edit(experiment / "manifest.json", title="<script>alert(1)</script> & more")
    run = experiment / "runs" / "pfifo-limit-100_seed-1"
    fabricated.edit(run / "status.json", state="failed", why="<b>no</b>")
    summary.summarize(experiment)
    words = Page(report.write_report(experiment).read_text()).words
    assert "<script>alert(1)</script> & more" in words and "<b>no</b>" in words


def test_pictures_of_their_own(experiment: Path) -> None:
    """goodput.svg is well-formed and repeats; goodput.png is a PNG."""
    summary.summarize(experiment)
    report.write_report(experiment)
    svg = (experiment / "goodput.svg").read_bytes()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert (experiment / "goodput.png").read_bytes().startswith(b"\x89PNG\r\n")
    report.write_report(experiment)
    assert (experiment / "goodput.svg").read_bytes() == svg


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    """Nine downloads that take 2 s under FIFO, 0.2 s under LAS-ACK, and one five times as long;
    all twice as long with seed 2; one upload is open at the end; no long flows.

    So of the first seed, on the line between ranks, 50 % take up to 1, 90 % up to 1.4 and 99 % up
    to 4.64 times 2 s or 0.2 s; means over both seeds are 1.5 times that."""
    rates = {"pfifo limit 50": (0.0, 0.0), "lasack limit 50": (0.0, 0.0)}
    directory = fabricated.experiment(tmp_path / "out", seeds=(1, 2), rates=rates)
    for path in directory.glob("runs/*"):
        seconds = 0.2 if path.name.startswith("lasack") else 2.0
        seconds *= 2 if path.name.endswith("2") else 1
        downloads = [("down", 20_000, factor * seconds) for factor in (1,) * 9 + (5,)]
        fabricated.only_transfers(path, [*downloads, ("up", 30_000, None)])
    return directory


def test_long_names_leave_the_bars_room(experiment: Path) -> None:
    """Matplotlib warns if nothing is left of a panel."""
    name = "mac80211 airtime AQL, mix dl2-ul8, wired.delay_ms 75.0"
    rows = [replace(row, name=name) for row in rows_of(experiment)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "<svg" in plots.to_svg(plots.goodput_bars(rows))


def test_long_names_leave_the_lines_room(loaded: Path) -> None:
    """Many rows too. A direction without transfers has no panel."""
    name = "FIFO, station.count 30, tcp.window_segments 1000, users.sizes exponential"
    rows = [replace(row, name=f"{number} {name}") for row in rows_of(loaded) for number in range(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plots.response_by_size(rows)
        assert "<svg" in plots.to_svg(figure)
    assert [len(panel.lines) for panel in figure.axes] == [12, 12]
    drawn = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(drawn) == 12


def test_the_first_sentence_names_few_of_many(tmp_path: Path) -> None:
    """The best ones and the worst; how many are between."""
    rates = {f"pfifo limit {limit}": (0.0, 0.0) for limit in range(10, 90, 10)}
    directory = fabricated.experiment(tmp_path / "out", seeds=(1,), rates=rates)
    for path in directory.glob("runs/*"):
        seconds = int(path.name.split("-")[2].partition("_")[0]) / 10
        fabricated.only_transfers(path, [("down", 20_000, seconds)] * 9)
    summary.summarize(directory)
    words = Page(report.write_report(directory).read_text()).words
    first, last = words.index("within 1.00 s"), words.index("3 between and 8.00 s under")
    assert first < words.index("4.00 s under") < last
    assert "5.00 s under" not in words[first:last]


def test_response_times_of_rows(loaded: Path) -> None:
    """Means over the seeds, counts of all; the other direction is not known."""
    fifo, lasack = rows_of(loaded)
    assert comparison.has_transfers([fifo]) and not comparison.has_connections([fifo, lasack])
    p90 = comparison.response(fifo, "down", "under_100kB", "p90")
    assert p90 is not None and p90.n == 2
    assert (p90.low, p90.mean, p90.high) == pytest.approx((2.8, 4.2, 5.6))
    assert comparison.response(fifo, "up", "under_100kB", "p90") is None
    assert comparison.counted(fifo, "down", "under_100kB", "n") == 20
    assert comparison.counted(fifo, "up", "under_100kB", "unfinished") == 2
    assert len(comparison.transfers(fifo, "down")) == 20


def test_the_report_counts_what_tcp_gave_up(loaded: Path) -> None:
    """Of the uploads that are open; of FIFO's two seeds one run."""
    assert comparison.gave_up(rows_of(loaded)) == ""
    path = loaded / "runs" / "pfifo-limit-50_seed-1"
    fabricated.end_transfer(path, "transfer-11", "sender", "cannot connect: Connection timed out")
    said = "TCP gave up on some of those that did not end: 1 under FIFO."
    text = table.render_table(summary.summarize(loaded), color=False)
    assert said in " ".join(text.split())
    assert said in Page(report.write_report(loaded).read_text()).words
    assert all(len(row.runs) == 2 for row in rows_of(loaded))


def test_report_of_transfers(loaded: Path) -> None:
    """Table, page and picture speak of response times and of nothing that was not measured."""
    text = table.render_table(summary.summarize(loaded), color=False)
    assert max(map(len, text.splitlines())) <= 80
    lasack = next(line for line in text.splitlines() if line.startswith("LAS-ACK"))
    assert lasack.split()[:9] == ["LAS-ACK", "0.30", "0.42", "1.39", "0", "-", "-", "-", "2"]
    assert "ratio" not in text
    page = Page(report.write_report(loaded).read_text())
    assert page.open == [] and "Who gets what" not in page.words
    assert (
        "Nine in ten downloads under 100 kB end within 0.42 s under LAS-ACK; 4.20 s under FIFO."
        in page.words
    )
    assert ElementTree.fromstring((loaded / "response.svg").read_bytes()).tag.endswith("svg")
    assert (loaded / "response.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert not (loaded / "goodput.svg").exists()


def test_picture_of_a_flow_that_ends(loaded: Path) -> None:
    """A flow of so many bytes is compared with nothing, but its goodput is drawn."""
    summary.summarize(loaded)
    content = json.loads((loaded / "summary.json").read_text())
    flow = {"id": "one", "dir": "up", "whole": False, "goodput_mbps": 0.7, "bytes": 9}
    flow |= {"station": "sta1", "start_s": 0.0, "end_s": 2.0, "retrans": 0, "delay_ms": None}
    for run in content["runs"]:
        run["flows"] = [{**flow, "goodput_series": [[0.5, 1.0], [1.5, 0.5]]}]
    (loaded / "summary.json").write_text(json.dumps(content))
    assert not comparison.has_connections(comparison.compare(content))
    report.write_report(loaded)
    assert ElementTree.fromstring((loaded / "goodput.svg").read_bytes()).tag.endswith("svg")


def test_report_of_long_flows_and_transfers(experiment: Path) -> None:
    """Both tables, in this order, at most 80 columns wide; the ratio is the headline."""
    for path in experiment.glob("runs/*"):
        fabricated.add_transfers(path, [("down", 20_000, 0.5), ("up", 200_000, 1.5)])
    text = table.render_table(summary.summarize(experiment), color=False)
    assert max(map(len, text.splitlines())) <= 80
    assert text.index("Jain") < text.index("< 100 kB")
    words = Page(report.write_report(experiment).read_text()).words
    assert words.index("Who gets what") < words.index("How long transfers under 100 kB take")
    assert "Under LAS-ACK a download gets" in words
    assert (experiment / "goodput.svg").exists() and (experiment / "response.svg").exists()


@pytest.fixture
def with_a_call(experiment: Path) -> Path:
    """A stream of 700 datagrams beside the flows: 10 ms each, or under FIFO 200 ms; the last second
    has one of 300 ms, which FIFO loses. The medium saw a tenth of the airtime go to TCP ACKs."""
    for path in experiment.glob("runs/*"):
        ms, n = (200, 699) if path.name.startswith("pfifo") else (10, 700)
        fabricated.add_pulse(path, "call", [[1000 * ms] * (n - 1), [300_000][: n - 699]])
        stations = [
            {"name": "ap", "data_frames_in": fabricated.FRAMES, "airtime_s": 30, "airtime_to_s": 6}
            | {"tcp_ack_airtime_s": 3},
            {"name": "sta1", "airtime_s": 10, "airtime_to_s": 20, "tcp_ack_airtime_s": 1},
        ]
        fabricated.edit(path / "medium.json", stations=stations)
    return experiment


def test_delays_smoothness_and_airtime_are_shown(with_a_call: Path) -> None:
    """In the table and on the page, also the figure that FIFO lost. The picture is a file."""
    result = summary.summarize(with_a_call)
    assert {run["id"]: run["why_invalid"] for run in result["runs"] if not run["valid"]} == {
        "lasack-limit-100-inflight-off_seed-2": "the medium was not intact: lost 3"
    }
    text = table.render_table(result, color=False)
    assert max(map(len, text.splitlines())) <= 80
    second = text[text.index("second by second") :]
    lines = {line.split()[0]: line.split() for line in second.splitlines() if line}
    assert lines["FIFO"][-5:] == ["10.0", "200", "200", "200", "lost"]
    assert lines["LAS-ACK"][-5:] == ["10.0", "10", "10", "10", "300"]
    cov = comparison.smooth(comparison.compare(result)[0], "goodput_cov")
    assert cov is not None and lines["FIFO"][1] == f"{cov.mean:.2f}"
    page = Page(report.write_report(with_a_call).read_text())
    for words in ("From second to second", "How long datagrams take", "Airtime of each station"):
        assert words in page.words
    assert page.open == [] and "lost" in page.words
    svg = (with_a_call / "delay.svg").read_bytes()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert (with_a_call / "delay.png").read_bytes().startswith(b"\x89PNG\r\n")
    report.write_report(with_a_call)
    assert (with_a_call / "delay.svg").read_bytes() == svg


def test_cases_are_rows_by_name(tmp_path: Path) -> None:
    """Two have the same words. What only tells cases apart is in no name; what varies else is."""
    rates = {"pfifo": (0.5, 2.0), "lasack": (1.2, 1.3)}
    directory = fabricated.experiment(tmp_path, rates=rates)
    result = summary.summarize(directory)
    runs = result["runs"]
    for run in list(runs):
        run["params"] |= {"case": f"{run['params']['qdisc']} today", "inflight": 0}
        other: dict[str, Any] = json.loads(json.dumps(run))
        other["params"] |= {"case": f"{run['params']['qdisc']} tomorrow", "inflight": "auto"}
        runs.append(other)
    names = [f"{words} {day}" for day in ("today", "tomorrow") for words in rates]
    assert [row.name for row in comparison.compare(result)] == names
    for run in list(runs):
        other = json.loads(json.dumps(run))
        run["params"]["medium.retry"], other["params"]["medium.retry"] = 4, 7
        runs.append(other)
    assert [row.name for row in comparison.compare(result)] == [
        f"{name}, medium.retry {limit}" for limit in (4, 7) for name in names
    ]


def test_page_needs_a_summary(tmp_path: Path) -> None:
    """One line that says what to do."""
    with pytest.raises(ApbedError, match="apbed report"):
        report.write_report(tmp_path)


def test_command(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`apbed report DIR` prints the table, and the reason of each invalid run on stderr."""
    assert main(["report", str(experiment)]) == 1
    printed = capsys.readouterr()
    assert "LAS-ACK" in printed.out and "report.html" in printed.out
    assert printed.err.splitlines() == [
        "apbed: invalid: lasack-limit-100-inflight-off_seed-2: the medium was not intact: lost 3"
    ]
    fabricated.edit(
        experiment / "runs" / "lasack-limit-100-inflight-off_seed-2" / "medium.json",
        integrity={"lost": 0},
    )
    assert main(["report", "--json", str(experiment)]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 1
    assert main(["report", str(experiment / "nowhere")]) == 1
    assert "apbed run" in capsys.readouterr().err


def test_what_was_not_carried_out_is_said(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After Ctrl-C: the manifest has one run more than there are."""
    main(["report", str(experiment)])
    before = capsys.readouterr().err
    assert "not carried out" not in before
    manifest = json.loads((experiment / "manifest.json").read_text())
    ids = [path.parent.name for path in sorted(experiment.glob("runs/*/run.json"))]
    manifest["runs"] = [*ids, "one-more"]
    (experiment / "manifest.json").write_text(json.dumps(manifest))
    assert main(["report", str(experiment)]) == 1
    said = f"apbed: 1 of {len(ids) + 1} runs were not carried out"
    assert said in capsys.readouterr().err
    assert "not carried out: 1" in (experiment / "report.html").read_text()


def test_a_run_of_other_inputs_was_not_carried_out(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A campaign that was begun again with another module and interrupted: its old runs are left,
    and are not averaged with the new ones."""
    manifest = json.loads((experiment / "manifest.json").read_text())
    ids = [path.parent.name for path in sorted(experiment.glob("runs/*/run.json"))]
    manifest |= {"runs": ids, "inputs": dict.fromkeys(ids, "00" * 32) | {ids[0]: "11" * 32}}
    (experiment / "manifest.json").write_text(json.dumps(manifest))
    assert main(["report", str(experiment)]) == 1
    assert f"apbed: 1 of {len(ids)} runs were not carried out" in capsys.readouterr().err
    told = json.loads((experiment / "summary.json").read_text())
    assert told["not_carried_out"] == ids[:1]
    assert ids[0] not in [run["id"] for run in told["runs"]]


def test_a_place_that_cannot_be_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "out")
    assert main(["run", "demo", "--out", out]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("apbed: ") and "Not a directory" in line
