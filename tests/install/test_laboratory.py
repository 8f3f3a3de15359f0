# SPDX-License-Identifier: GPL-2.0-only
"""The Debian package apbed: installed in a root of its own, started by an ordinary user, purged.

No lab kernel is built here: what the first run builds is what `make all` builds in a checkout.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.apbed import fabricated_run

REPOSITORY = Path(__file__).resolve().parents[2]
TREES = "/srv/user/.local/share/apbed"
CANNOT_FETCH = 77
OWN = {"/usr/bin/apbed", "/usr/share/man/man1/apbed.1.gz"}
OWN |= {f"/usr/share/doc/apbed/{name}" for name in ("changelog.gz", "copyright")}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def started(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was there before, what each start said and made, and what was there after the purge."""
    if os.geteuid():
        pytest.skip("only root may make a root of its own")
    out = tmp_path_factory.mktemp("laboratory")
    results = fabricated_run.experiment(tmp_path_factory.mktemp("results"))
    script = REPOSITORY / "tests" / "install" / "laboratory.sh"
    command = ["unshare", "-m", *map(str, (script, packages, out, results))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == CANNOT_FETCH:
        pytest.skip("apt cannot fetch what apbed depends on")
    logs = "".join(log.read_text() for log in sorted([*out.glob("*.log"), *out.glob("*.said")]))
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{logs}"
    return out


def version(packages: Path) -> str:
    (deb,) = packages.glob("apbed_*.deb")
    return deb.name.split("_")[1]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_it_depends_on_what_setup_installs(packages: Path) -> None:
    """But what only the tests of a checkout need; and on Python's libraries as Debian has them."""
    needed = set()
    for line in lines(REPOSITORY / "scripts" / "packages"):
        name, _, purpose = line.partition("\t")
        if name and not name.startswith("#") and purpose.strip() != "make check":
            needed.add(name)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    needed |= {f"python3-{name}" for name in project["dependencies"]}
    (deb,) = packages.glob("apbed_*.deb")
    command = ["dpkg-deb", "-f", str(deb), "Depends"]
    depends = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert set(depends.strip().split(", ")) == needed


def test_it_is_small(packages: Path) -> None:
    """No tests, no records of measurements: the modules, programs and scenarios alone."""
    (deb,) = packages.glob("apbed_*.deb")
    assert deb.stat().st_size < 1_000_000


def test_what_apbed_installs(started: Path) -> None:
    before, installed = set(lines(started / "before")), set(lines(started / "installed"))
    assert before <= installed
    new = {line.split()[0] for line in installed - before}
    tree = {path for path in new if path.startswith("/usr/share/apbed/")}
    assert new - tree == OWN
    assert (started / "man").read_text() == "/usr/share/man/man1/apbed.1.gz\n"


def test_the_first_start_says_where_the_tree_is(started: Path, packages: Path) -> None:
    tree = f"{TREES}/{version(packages)}"
    assert (started / "help.said").read_text() == f"apbed: the laboratory's tree is {tree}\n"
    assert (started / "help").read_text().startswith("usage: apbed ")


def test_a_users_commands(started: Path) -> None:
    """In the user's own folder, with Debian's Python and its libraries."""
    assert re.search(r"^demo +3 runs ", (started / "list").read_text(), re.MULTILINE)
    assert len(lines(started / "runs")) == 3
    assert "LAS-ACK" in (started / "report").read_text()
    assert "study/results/report.html" in lines(started / "places")
    found = {one["name"]: one for one in json.loads((started / "doctor").read_text())["findings"]}
    assert found["packages"]["ok"]
    assert found["python"]["ok"]


def test_setup_finds_nothing_to_do(started: Path) -> None:
    assert (started / "setup").read_text() + (started / "setup.said").read_text() == ""


def test_the_second_start_copies_nothing(started: Path) -> None:
    """Not even a file with the same content, and it says nothing."""
    assert len(lines(started / "first")) > 300
    assert lines(started / "second") == lines(started / "first")
    assert (started / "list.said").read_text() == ""


def test_an_interrupted_first_start_leaves_nothing(started: Path) -> None:
    assert f"{TREES}/0.1.0.new/Makefile" in lines(started / "half")
    assert (started / "interrupted.status").read_text() == "130\n"
    assert lines(started / "interrupted.left") == []


def test_the_tree_is_where_the_user_keeps_data(started: Path, packages: Path) -> None:
    assert f"data/apbed/{version(packages)}" in lines(started / "places")


def test_another_version_has_a_tree_of_its_own(started: Path, packages: Path) -> None:
    assert sorted(lines(started / "versions")) == [version(packages), "9.9"]
    assert (started / "upgraded.said").read_text().endswith(f" {TREES}/9.9\n")


def test_apbeds_purge_leaves_nothing(started: Path) -> None:
    assert lines(started / "after") == lines(started / "before")
