# SPDX-License-Identifier: GPL-2.0-only
"""The doctor on machines that lack something."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.cli import doctor
from apbed.cli.doctor import Finding
from apbed.kernels import cache


def _run(words: list[str]) -> int:
    parser = argparse.ArgumentParser()
    doctor.add_parser(parser.add_subparsers())
    args = parser.parse_args(["doctor", *words])
    status: int = args.func(args)
    return status


@pytest.mark.parametrize(("required", "expected"), [(True, 1), (False, 0)])
def test_only_what_the_lab_needs_fails_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    required: bool,
    expected: int,
) -> None:
    lacking = Finding("radio", False, "no radio", "buy one", required)
    monkeypatch.setattr(doctor, "findings", lambda: iter([lacking]))
    assert _run([]) == expected
    assert "no radio  [buy one]" in capsys.readouterr().out
    assert _run(["--json"]) == expected
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is not required
    assert report["findings"][0]["fix"] == "buy one"


def test_packages_are_read_from_the_list_setup_installs(tmp_path: Path) -> None:
    listing = tmp_path / "packages"
    listing.write_text("# comment\n\nbc\t\tbuilding\nno-such-package-here  nothing\n")
    assert doctor.needed_packages(listing) == ["bc", "no-such-package-here"]
    assert "hostapd" in doctor.needed_packages()


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "needed_packages", lambda: ["dpkg", "no-such-package-here"])
    finding = doctor._packages()
    assert (finding.ok, finding.detail) == (False, "missing: no-such-package-here")


def test_plugins_that_tc_cannot_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "BUILD", tmp_path)
    finding = doctor._plugins()
    assert not finding.ok
    assert finding.detail.endswith("does not load lasack ackwrr inflight")


def test_no_kernel_means_no_modules_and_no_boot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = {finding.name: finding for finding in doctor.findings()}
    default = f"kernel {cache.default_version()}"
    assert not found[default].ok and found[default].required
    assert not found[f"{default} debug"].ok and not found[f"{default} debug"].required
    assert not found["modules"].ok
    assert not found["boot"].ok


def test_memory_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    finding = doctor._executable_memory()
    assert not finding.ok
    assert "absent" in finding.detail


def test_tc_is_found_with_the_path_of_a_debian_user() -> None:
    command = [str(REPOSITORY / ".venv/bin/apbed"), "doctor", "--json"]
    env = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"}
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout
    (tc,) = [one for one in json.loads(said)["findings"] if one["name"] == "tc"]
    assert tc["ok"], tc["detail"]
