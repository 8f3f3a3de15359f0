# SPDX-License-Identifier: GPL-2.0-only
"""The records of runs: the page can be made from them alone, and they know what is old."""

from __future__ import annotations

import json
import lzma
import math
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apbed import checkout
from apbed.analysis import report, summary
from apbed.analysis.verdict import judge, record
from apbed.analysis.verdict import page as verdict_page
from apbed.analysis.verdict.record import Record
from apbed.checkout import REPOSITORY
from apbed.cli import air, bench, main
from apbed.errors import ApbedError
from apbed.run import runner
from apbed.scenario import catalogue, parse
from apbed.scenario.parse import Scenario
from tests.apbed.air.test_verdict import run

PAGES = REPOSITORY / "Documentation" / "measurements"
CASES = 'case=["mac80211 airtime AQL","lasack"]'


def planned(seeds: str = "[1,2]") -> tuple[list[str], Mapping[str, str]]:
    """The words of a plan of game's runs, and their inputs today."""
    words = [CASES, f"seed={seeds}"]
    return words, runner.inputs(parse.load(catalogue.find("game"), words))


def of_game(inputs: Mapping[str, str]) -> Record:
    """A made-up record with a run for each of these ids."""
    runs = []
    for run_id in inputs:
        case = "lasack" if run_id.startswith("lasack") else "mac80211 airtime AQL"
        runs.append(run(case, int(run_id[-1]), 5.0, 0.9, 20.0) | {"id": run_id})
    return Record("game", "A game", dict.fromkeys(inputs, "0123456"), inputs, tuple(runs))


def page_of(out: Path, words: list[str]) -> str:
    """The page that `apbed air --report` writes."""
    settings = [word for one in words for word in ("--set", one)]
    assert main(["air", "--report", "--loads", "game", *settings, "--out", str(out)]) == 0
    return (out / "verdict.md").read_text()


def test_the_page_may_go_to_a_new_folder(tmp_path: Path) -> None:
    words, inputs = planned()
    record.write(tmp_path / "records", of_game(inputs))
    settings = [word for one in words for word in ("--set", one)]
    command = ["air", "--report", "--loads", "game", "--records", str(tmp_path / "records")]
    assert main([*command, *settings, "--out", str(tmp_path / "new" / "page")]) == 0
    assert (tmp_path / "new" / "page" / "verdict.md").exists()


def test_the_page_needs_only_the_record(tmp_path: Path) -> None:
    """Values and commit are the record's; nothing is old, nothing lacks."""
    words, inputs = planned()
    record.write(tmp_path / "verdict", of_game(inputs))
    text = page_of(tmp_path, words)
    assert "Commit 0123456." in text and "| **0.90** |" in text
    assert "not done" not in text and " * |" not in text
    assert json.loads((tmp_path / "verdict.json").read_text())["loads"][0]["name"] == "game"


def test_a_run_with_other_inputs_is_marked(tmp_path: Path) -> None:
    """And a run of the plan that the record lacks is counted."""
    words, inputs = planned("[1,2,3]")
    known = {run_id: found for run_id, found in inputs.items() if not run_id.endswith("3")}
    old = next(run_id for run_id in known if run_id.startswith("lasack"))
    record.write(tmp_path / "verdict", of_game(known | {old: "0" * 64}))
    text = page_of(tmp_path, words)
    assert "| lasack * |" in text and "| mac80211 airtime AQL |" in text
    assert "**2 runs of the plan are not done**" in " ".join(text.split())


def test_runs_of_no_plan_are_left_out(tmp_path: Path) -> None:
    """The record has three seeds, the plan one."""
    words, _ = planned("[2]")
    record.write(tmp_path / "verdict", of_game(planned("[1,2,3]")[1]))
    assert "from 2 runs" in page_of(tmp_path, words)


def test_runs_that_were_not_repeated_stay_in_the_record() -> None:
    """Old ones, too: a page with a mark says more than one without the row. Each keeps the commit
    that made it; the order is the plan's."""
    names = [f"lasack_seed-{seed}" for seed in (1, 2, 3)]
    earlier = of_game(dict.fromkeys(names, "a"))
    made = replace(of_game({names[1]: "b"}), commits={names[1]: "fedcba9"})
    joined = made.joined(earlier, [names[2], names[1]])
    assert joined.inputs == {names[2]: "a", names[1]: "b", names[0]: "a"}
    assert [run["id"] for run in joined.runs] == list(joined.inputs)
    assert joined.commits == {names[2]: "0123456", names[1]: "fedcba9", names[0]: "0123456"}
    assert joined.stale({names[1]: "b", names[2]: "c", names[0]: "a"}) == {names[2]}


def test_a_campaign_goes_on_from_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what the records lack or have of older inputs is run; what comes of it replaces the old
    and stands beside the rest."""
    words, inputs = planned()
    old = next(run_id for run_id in inputs if run_id.startswith("lasack"))
    records, out = tmp_path / "records", tmp_path / "out"
    record.write(records, of_game({**inputs, old: "0" * 64}))
    asked = [word for one in words for word in ("--set", one)]
    asked = ["air", "--loads", "game", *asked, "--out", str(out), "--records", str(records)]

    def run_all(scenario: Scenario, directory: Path, *_: object) -> None:
        assert [run.id for run in scenario.runs] == [old]
        (directory / "runs" / old).mkdir(parents=True)
        told = json.dumps({"inputs_hash": inputs[old]})
        (directory / "runs" / old / "run.json").write_text(told)
        (directory / "manifest.json").write_text("{}")

    def summarize(_directory: Path) -> dict[str, Any]:
        return {"scenario": "game", "runs": [run("lasack", 1, 5.0, 0.7, 20.0) | {"id": old}]}

    monkeypatch.setattr(runner, "run_all", run_all)
    monkeypatch.setattr(summary, "summarize", summarize)
    monkeypatch.setattr(report, "write_report", lambda _: None)
    assert main([*asked, "--dry-run"]) == 0
    assert re.search(r"game +4 +3 ", capsys.readouterr().out)
    assert main(asked) == 0
    known = record.read(records, "game")
    assert known is not None and known.inputs == inputs and not known.stale(inputs)
    assert {one["id"]: one["ratio_down_up"] for one in known.runs}[old] == 0.7
    monkeypatch.setattr(runner, "run_all", None)  # nothing is left to run
    assert main(asked) == 0


def test_each_run_has_the_commit_that_made_it(tmp_path: Path) -> None:
    """The page names those that differ by their contenders."""
    words, inputs = planned()
    lasack = {run_id: "fedcba9" for run_id in inputs if run_id.startswith("lasack")}
    made = of_game(inputs)
    record.write(tmp_path / "verdict", replace(made, commits={**made.commits, **lasack}))
    text = " ".join(page_of(tmp_path, words).split())
    assert "Commit 0123456 (lasack: fedcba9)." in text
    (load,) = json.loads((tmp_path / "verdict.json").read_text())["loads"]
    found = {one["case"]: one["commits"] for one in load["contenders"]}
    assert found == {"mac80211 airtime AQL": ["0123456"], "lasack": ["fedcba9"]}


def test_only_what_is_large_is_left_out(tmp_path: Path) -> None:
    """Every measure of the verdict is as it was; each second and each transfer is gone."""
    one = run("lasack", 1, 5.0, 0.9, 20.0)
    one["flows"][0] |= {"goodput_series": [[0.5, 1.0]]}
    one["transfers"] = [{"bytes": 1}]
    times = {"n": 1, "unfinished": 0, "p50": 0.1, "p90": 0.2}
    one["response_time_s"] = {"down": times, "up": times}
    directory = tmp_path / "runs" / one["id"]
    directory.mkdir(parents=True)
    (directory / "run.json").write_text('{"inputs_hash": "abc"}')
    made = record.of_runs(
        tmp_path, "A game", {one["id"]: "0123456"}, {"scenario": "game", "runs": [one]}
    )
    record.write(tmp_path, made)
    found = record.read(tmp_path, "game")
    assert found is not None and found.inputs == {one["id"]: "abc"}
    assert found.commits == {one["id"]: "0123456"}
    (kept,) = found.runs
    for measure in judge.MEASURES:
        assert measure.of(kept) == measure.of(one), measure.name
    assert kept["transfers"] == [] and kept["flows"][0]["goodput_series"] == []


def test_equal_records_are_equal_files(tmp_path: Path) -> None:
    made = of_game(planned()[1])
    first = record.write(tmp_path / "a", made).read_bytes()
    again = record.read(tmp_path / "a", "game")
    assert again is not None and record.write(tmp_path / "b", again).read_bytes() == first
    assert record.read(tmp_path, "rrul") is None


@pytest.mark.parametrize(
    "content",
    [b"", b"not xz", lzma.compress(b"[]"), lzma.compress(b'{"schema": 1}'), lzma.compress(b"{}")],
)
def test_a_broken_record_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "game.json.xz").write_bytes(content)
    with pytest.raises(ApbedError, match=r"game\.json\.xz is no record of runs \(.*\); remove it"):
        record.read(tmp_path, "game")


def without_marks(page: str) -> list[str]:
    """The four leading paragraphs, how many runs there are, and the lines of a page's tables
    without the marks of age, which depend on today's code."""
    lines = [re.sub(r" \* \|", " |", line) for line in page.splitlines() if line[:1] == "|"]
    return [*page.split("\n\n")[1:5], *re.findall(r"from \d+ runs", page), *lines]


def test_the_readme_says_what_the_page_says() -> None:
    """How many comparisons are won and lost, under how many loads."""
    page = " ".join((PAGES / "verdict.md").read_text().split("\n\n")[1].split())
    readme = " ".join((REPOSITORY / "README.md").read_text().split())
    found = re.search(r"wins (\d+ of \d+) comparisons under (\d+) loads.* loses (\d+),", page)
    assert found
    assert f"wins {found[1]} comparisons under {found[2]} loads and loses {found[3]}" in readme


def test_the_readmes_table_is_of_the_records() -> None:
    """Means over the seeds of rivals. Of FIFO 99 % of the datagrams never came."""
    known = record.read(PAGES / "verdict", "rivals")
    assert known is not None
    (load,) = judge.loads("rivals", known.title, {"runs": list(known.runs)})
    measures = {one.name: one for one in judge.MEASURES}
    lines = (REPOSITORY / "README.md").read_text().replace("**", "").splitlines()
    for name in ("FIFO", "fq_codel", "mac80211 airtime AQL", "lasack"):
        row = load.row(name)
        assert row is not None and row.down_each and row.up_each and row.total
        told = [f"{one.mean:.2f}" for one in (row.down_each, row.up_each, row.total)]
        ratio, p99 = (judge.of_row(measures[one], row) for one in ("down/up", "delay p99"))
        assert ratio and p99
        told += [f"{ratio.mean:.2f}"]
        told += ["seconds" if math.isinf(p99.mean) else f"{p99.mean:.0f} ms"]
        assert f"| {name} | {' | '.join(told)} |" in lines, told


def test_the_committed_page_is_that_of_the_committed_records() -> None:
    """What stands at its top, and every value of every table."""
    names = sorted(path.name.removesuffix(record.SUFFIX) for path in PAGES.glob("verdict/*.xz"))
    assert names
    found: list[judge.Load] = []
    commits: dict[str, str] = {}
    phys: dict[str, str] = {}
    for name in names:
        phys[name] = parse.load(catalogue.find(name), []).runs[0].plan.medium.phy
        known = record.read(PAGES / "verdict", name)
        assert known is not None
        found += judge.loads(name, known.title, {"runs": list(known.runs)})
        commits |= {f"{name}/{run_id}": commit for run_id, commit in known.commits.items()}
    origin: dict[str, Any] = {"commands": [], "date": "", "stale": frozenset()}
    told = verdict_page.Origin(**origin, commits=commits, phys=phys, missing=0, unmeasured=())
    assert without_marks((PAGES / "verdict.md").read_text()) == without_marks(
        verdict_page.page(found, told, None)
    )


def test_records_in_the_checkout_do_not_make_it_dirty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs read does."""
    (tmp_path / "Documentation").mkdir()
    for name in ("Documentation/a", "b"):
        (tmp_path / name).write_text("first")
    user = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*user, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(air, "REPOSITORY", tmp_path)
    clean = air._commit()
    assert re.fullmatch("[0-9a-f]{7,}", clean)
    (tmp_path / "Documentation" / "a").write_text("second")
    assert air._commit() == clean
    (tmp_path / "b").write_text("second")
    assert air._commit() == f"{clean}-dirty"


def test_in_the_packages_tree_the_package_stands_for_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there may be no git, or one that knows the home directory around the tree."""
    (tmp_path / ".packaged").write_text("1.2.3\n")
    monkeypatch.setattr(checkout, "PACKAGED", tmp_path / ".packaged")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert air._commit() == "package 1.2.3"
    assert bench._commit() == "package 1.2.3"
