# SPDX-License-Identifier: GPL-2.0-only
"""Runs on a Dask cluster: the same results, and nothing lost or left when something dies."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from apbed.analysis import summary
from apbed.checkout import PACKAGE
from apbed.cli import main
from apbed.errors import ApbedError
from apbed.run import archive, bench, dask_executor, executor, runner
from apbed.run.machines import LabMachine
from apbed.run.runner import Event, Notify
from apbed.scenario import catalogue, parse
from tests.apbed.marked_processes import processes_marked
from tests.executor import stub
from tests.executor.cluster import Cluster, cluster, what_is_left

CELLS = str(Path(__file__).with_name("cells.toml"))
LONG = ["--set=duration_s=4000"]


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers, whose package is in a place where nothing was built."""
    folder = tmp_path_factory.mktemp("farm")
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(PACKAGE, folder / "testbed" / PACKAGE.name, ignore=ignored)
    with cluster(folder, 2, package.parent) as found:
        yield found


def contents(out: Path) -> dict[str, bytes]:
    """Of all files of all runs. But status.json has wall times, and where a worker has a TMPDIR,
    console.log names it.
    """
    files = (path for path in out.glob("runs/**/*") if path.is_file())
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in files
        if path.name not in ("status.json", "console.log")
    }


@pytest.mark.usefixtures("lab_kernel")
def test_a_worker_gives_what_this_host_gives(tmp_path: Path, farm: Cluster) -> None:
    """Byte for byte, from programs that lie elsewhere: also with the lab's own radio."""
    words = ["ap.qdisc=lasack inflight off", 'ap.radio=["direct", "queues"]']
    scenario = parse.load(catalogue.find(CELLS), words)
    assert runner.run_all(scenario, tmp_path / "here", jobs=2)
    with executor.opened(farm.word) as there:
        assert runner.run_all(scenario, tmp_path / "there", jobs=2, executor=there)
    for out in (tmp_path / "here", tmp_path / "there"):
        runs = summary.summarize(out)["runs"]
        assert [run["why_invalid"] for run in runs] == [None, None]
    here, there_ = (tmp_path / name / "summary.json" for name in ("here", "there"))
    assert here.read_bytes() == there_.read_bytes()
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@pytest.mark.usefixtures("lab_kernel")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_stop_with_the_campaign(tmp_path: Path, farm: Cluster, number: int) -> None:
    words = ["env", "--default-signal=INT", sys.executable, "-m", "apbed", "run", CELLS, *LONG]
    words += ["--out", str(tmp_path), "--executor", farm.word]
    command = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert command.stderr and command.stderr.readline().startswith("start ")
    guests = [line for one in farm.workers for line in processes_marked(one.folder)]
    assert any("time-travel" in line for line in guests)
    command.send_signal(number)
    _, said = command.communicate()
    if number == signal.SIGINT:
        assert (command.returncode, said.splitlines()[-1]) == (130, "apbed: interrupted")
        assert list((tmp_path / "runs").iterdir()) == []
    for one in farm.workers:
        assert what_is_left(one.folder, but="dask_worker") == []


def campaign(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    seeds: int,
    deadly: int = -1,
    notify: Notify = runner.unheard,
) -> list[Event]:
    """What is heard of a campaign of stubs, beside progress."""
    found = stub.stub_bench(tmp_path, scale=1.0 if deadly > 0 else 0.01, deadly=deadly)
    monkeypatch.setattr(bench, "find", lambda *_: found)
    scenario = parse.load(catalogue.find(CELLS), [f"seed={list(range(1, seeds + 1))}"])
    heard: list[Event] = []

    def hear(event: Event) -> None:
        heard.append(event)
        notify(event)

    with executor.opened(word) as there:
        runner.run_all(scenario, tmp_path / "out", there.jobs, hear, executor=there)
    return [event for event in heard if event.state != "running"]


def test_a_run_that_kills_workers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said of it, and all others are carried out."""
    with cluster(tmp_path / "farm", 6) as farm:
        events = campaign(tmp_path, monkeypatch, farm.word, 6, deadly=3)
        dead = [one for one in farm.workers if one.process.poll() is not None]
    assert len(events) == 6
    (failed,) = [event for event in events if event.state == "failed"]
    assert failed.run.plan.seed == 3
    assert failed.why and failed.why.startswith("3 workers were lost during this run: tcp://")
    # The fourth may have begun before we heard of the third.
    assert len(dead) in (3, 4)


def test_a_campaign_without_its_scheduler_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one line, while a run is under way; what was done stays."""
    with cluster(tmp_path / "farm", 1) as farm:

        def end(event: Event) -> None:
            if event.state == "running" and farm.scheduler and event.run.plan.seed == 2:
                farm.scheduler.kill()
                farm.scheduler = None

        with pytest.raises(ApbedError, match=r"the scheduler of dask://\S+ is gone"):
            campaign(tmp_path, monkeypatch, farm.word, 2, deadly=9, notify=end)
    assert len(list((tmp_path / "out").glob("runs/*/status.json"))) >= 1


def test_a_worker_with_another_apbed_is_refused(
    tmp_path: Path, farm: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "package_digest", lambda: "another")
    with pytest.raises(ApbedError, match=r"worker tcp://\S+ has another apbed; install this one"):
        campaign(tmp_path, monkeypatch, farm.word, 1)


def test_what_cannot_be_sent_is_refused(tmp_path: Path, farm: Cluster) -> None:
    """Before anything starts."""
    found = stub.stub_bench(tmp_path)
    with executor.opened(farm.word) as there:
        there.accept(found)
        fixed = dataclasses.replace(found, machine=Fixed())  # type: ignore[arg-type]
        with pytest.raises(ApbedError, match="a rock stays on this host: leave out --executor"):
            there.accept(fixed)


def paths(value: object) -> Iterator[Path]:
    """All that a value made of dataclasses names."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from paths(part)
    elif isinstance(value, dict):
        yield from paths(tuple(value.values()))
    elif dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            yield from paths(getattr(value, one.name))


@pytest.mark.usefixtures("lab_kernel")
def test_a_worker_uses_nothing_of_the_campaigns_host(tmp_path: Path) -> None:
    """Not even where it could: every path of the bench is one that was sent."""
    entry = bench.find("default")
    archive.unpack(archive.pack({str(path)[1:]: path for path in entry.sent()}), tmp_path)
    there = entry.moved(partial(dask_executor.below, tmp_path))
    assert isinstance(there.machine, LabMachine)
    unused = there.machine.kernel.build_dir  # for who builds modules
    named = set(paths(there)) - {unused}
    assert len(named) >= 10
    assert [path for path in named if not path.is_relative_to(tmp_path)] == []
    assert [path for path in named if not path.exists()] == []


class Fixed:
    """A machine that no other host can have."""

    what = "a rock"


@pytest.mark.parametrize("word", ["dask", "dask://", "dask://here", "http://here:1", "dask://a:b"])
def test_an_unknown_word_is_one_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", CELLS, "--executor", word]) == 1
    expected = f"apbed: --executor {word}: expected local or dask://HOST:PORT\n"
    assert capsys.readouterr().err == expected


def test_a_cluster_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECT_S", 0.5)
    assert main(["run", CELLS, "--executor", "dask://127.0.0.1:9"]) == 1
    assert capsys.readouterr().err == "apbed: no Dask scheduler answers at dask://127.0.0.1:9\n"


def test_a_damaged_cache_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho right\n")
    packed = archive.pack({"bin/program": program})
    for damage in ("wrong", None):
        there = archive.kept(packed) / "bin" / "program"
        there.unlink()
        if damage:
            there.write_text(damage)
        assert archive.kept(packed) == there.parents[1]
        assert subprocess.run([there], capture_output=True).stdout == b"right\n"


def test_equal_files_have_equal_names(tmp_path: Path) -> None:
    """When they were made, and who may do what with them, does not count."""
    digests = set()
    for number in (1, 2):
        path = tmp_path / str(number)
        path.write_text("content")
        path.chmod(0o600 + number)
        os.utime(path, (number, number))
        digests.add(archive.digest(archive.pack({"name": path})))
    assert len(digests) == 1
    path.write_text("other")
    assert archive.digest(archive.pack({"name": path})) not in digests
