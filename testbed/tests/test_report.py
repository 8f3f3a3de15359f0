# SPDX-License-Identifier: GPL-2.0-only
"""The table, the page and the pictures of fabricated experiments."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fabricated_run as fabricated
import pytest

from apbed import comparison, report, summary, table
from apbed.cli import main
from apbed.errors import ApbedError


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
