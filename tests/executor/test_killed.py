# SPDX-License-Identifier: GPL-2.0-only
"""SIGKILL at any moment costs a campaign no more than the runs under way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.executor.cluster import environment, what_is_left
from tests.experiments import killed

pytestmark = pytest.mark.usefixtures("lab_kernel")

WORKS_IN_ITS_FOLDER = """\
import subprocess, time
from apbed.processes import guarded_folder
with guarded_folder("lab-test-") as folder:
    sleeper = subprocess.Popen(["/bin/sleep", "1000"], cwd=folder, start_new_session=True)
    print(sleeper.pid, flush=True)
    time.sleep(1000)
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One campaign nobody kills serves all tests."""
    return tmp_path_factory.mktemp("killed")


def test_what_works_in_a_guarded_folder_ends_with_its_process(tmp_path: Path) -> None:
    """Also a process of another session, which no signal to the process group reaches."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKS_IN_ITS_FOLDER],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    sleeper = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    left = what_is_left(tmp_path)
    with contextlib.suppress(ProcessLookupError):
        os.kill(sleeper, signal.SIGKILL)
    assert left == []


def test_a_campaign_survives_sigkill(out: Path) -> None:
    assert killed.survives(out, runs=4, seconds=2, kills=2, seed=2)


def test_a_campaign_survives_its_workers(out: Path) -> None:
    assert killed.survives(out, runs=4, seconds=2, kills=2, workers=4)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 4])
def test_a_long_campaign_survives(tmp_path: Path, workers: int) -> None:
    """100 runs of 100 virtual seconds."""
    kills = 2 if workers else 10
    assert killed.survives(tmp_path, runs=100, seconds=100, kills=kills, workers=workers)
