# SPDX-License-Identifier: GPL-2.0-only
"""Runs on nodes with real sshd in a lab kernel, and nodes that are broken in every phase.

Whatever happens, every node is afterwards as it was: its devices, addresses, routes, queues,
sysctls, modules, files and processes are compared.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from apbed.analysis import report, summary
from apbed.kernels.cache import LabKernel
from tests.grid import laboratory
from tests.grid.conftest import Cases, Found, need_apt

ONE = Path(__file__).with_name("one.toml")
PHASES = ("upload", "keep", "modules", "wire", "access-point", "associate", "queues", "2", "fetch")
STA1 = "sta1 (192.0.2.12): "
GONE = " is not there; if it still runs, it puts itself back 6 s after it last heard of apbed"


def assert_as_before(found: Found) -> None:
    """No node differs from what it was before the first case."""
    assert {name: case["differences"] for name, case in found.items() if case["differences"]} == {}
    assert {name: case["left"] for name, case in found.items() if case["left"]} == {}


def test_a_run_a_lost_link_and_the_campaign_goes_on(
    lab_kernel: LabKernel, cases: Cases, tmp_path: Path
) -> None:
    found = cases(ONE, "plain", "cut@2:sta1", "resume@cut@2")
    assert_as_before(found)
    assert found["plain"]["events"] == ["done"]
    cut = found["cut@2:sta1"]
    assert cut["injected"] == "2"
    assert cut["events"] == ["failed"]
    assert cut["error"].startswith("sta1 (192.0.2.12): ")
    assert cut["error"].endswith("; repeat the command to go on")
    assert found["resume@cut@2"]["events"] == ["done"]
    for campaign in ("plain", "cut@2"):
        (run,) = summary.summarize(tmp_path / campaign)["runs"]
        assert run["why_invalid"] is None
        # 11 Mb/s carries 5 to 6 Mb/s of TCP, by the medium's own tests.
        assert 4.0 < run["goodput_mbps"]["up"] < 6.5
        assert run["params"]["kernel"] == lab_kernel.release
    report.write_report(tmp_path / "plain")
    assert "Real machines and real air" in (tmp_path / "plain/report.html").read_text()
    assert_no_secret(tmp_path / "plain")


def assert_no_secret(campaign: Path) -> None:
    """No key and no passphrase is in a run's directory."""
    for path in campaign.rglob("*"):
        if path.is_file():
            text = path.read_text(errors="replace")
            assert "passphrase" not in text and "psk=" not in text, path
            assert "PRIVATE KEY" not in text, path


# What fails, and what is said; each in a campaign of its own. A group of cases is one boot.
BROKEN: dict[str, dict[str, str | None]] = {
    "refused": {
        "uname:sta1": "sta1 (192.0.2.12): it runs 6.1.0-0; the grid's kernel is 6.",
        "address": "198.51.100.1/24 is its address; the device must be idle",
        "stranger:sta1": STA1 + "ssh does not know its host key, or knows another one; find out "
        "why with `ssh root@192.0.2.12`; no node was changed",
        "off:sta1": STA1 + "ssh: connect to host 192.0.2.12 port 22: ",
        "unbuilt": "make -C kernel KDIR=HEADERS ARCH=none",
    },
    "set-up": {
        "qdisc": None,
        "insmod": None,
        "absent@modules": None,
        "hostapd:ap": None,
        "wpa_supplicant:sta1": None,
    },
    "full": {
        "full@modules:sta1": None,
        "full@queues:ap": None,
        "full@2:sta1": None,
        "resume@full@2": None,
    },
    "killed": {
        "interrupt@associate": "interrupted",
        "interrupt@2": "interrupted",
        "vanish@queues": "status 9",
        "vanish@2": "status 9",
        "session@associate:ap": "ap (192.0.2.10): the connection ended",
        "session@2:sta1": "sta1 (192.0.2.12): the connection ended",
        "all@2:ap": "ap (192.0.2.10): the connection ended",
    },
    "cut-early": {f"cut@{phase}:sta1": STA1 for phase in PHASES[:5]},
    "cut-late": {
        **{f"cut@{phase}:sta1": STA1 for phase in PHASES[5:]},
        "cut@queues:ap": "ap (192.0.2.10): ",
        "cut@2:wired": "wired (192.0.2.11): ",
    },
    "cut-outside": {
        "cut@check:sta1": STA1 + "ssh: connect to host 192.0.2.12 port 22: ",
        "cut-later@check:sta1": STA1 + "the connection ended; no node was changed",
        "cut@connect:sta1": STA1,
        "cut@capture:ap": "ap (192.0.2.10): ",
        "cut@clocks:sta1": STA1,
        # Not a station: its queue would hold the modules of all nodes, which share a kernel.
        "cut@put-back:wired": "wired (192.0.2.11)" + GONE,
        "cut-later@put-back:sta1": "sta1 (192.0.2.12)" + GONE,
        "resume@cut-later@put-back": None,
    },
}
FAILED_RUNS = {
    "qdisc": "Unknown qdisc",
    "insmod": "Invalid module format",
    "absent@modules": ".ko: No such file or directory",
    "hostapd:ap": "hostapd is no access point: nl80211: Could not configure driver mode",
    "wpa_supplicant:sta1": "sta1 did not associate in 30 s",
    "full@modules:sta1": "no space left in /run/apbed",
    "full@queues:ap": "no space left in /run/apbed",
    "full@2:sta1": "sta1: no space left in /run/apbed",
}


@pytest.mark.slow
@pytest.mark.parametrize("group", BROKEN)
def test_every_fault_leaves_every_node_as_it_was(cases: Cases, tmp_path: Path, group: str) -> None:
    found = cases(ONE, *BROKEN[group])
    assert_as_before(found)
    for name, said in BROKEN[group].items():
        assert said is None or said in found[name].get("error", "no error"), name
        # Who vanishes says no more: its status says that it was killed.
        injected = "@" in name and not name.startswith("resume@")
        assert not injected or "injected" in found[name] or said == "status 9", name
    for name in FAILED_RUNS.keys() & found.keys():
        assert found[name]["events"] == ["failed"], name
        assert FAILED_RUNS[name] in found[name]["why"][0], name
    for name in found:
        if name.startswith("resume@"):  # what was lost is measured again
            assert found[name]["events"] == ["done"], name
            (run,) = summary.summarize(tmp_path / name.removeprefix("resume@"))["runs"]
            assert run["why_invalid"] is None
    for name in found:
        said = found[name].get("error", "")
        assert "\n" not in said, name
        if name.startswith(("cut", "session", "all")) and "@check" not in name:
            assert said.endswith("; repeat the command to go on"), name


@pytest.mark.slow
def test_runs_with_keys_and_with_a_capture(cases: Cases, tmp_path: Path) -> None:
    found = cases(ONE, "wpa2", "capture", "power")
    assert_as_before(found)
    assert [case["events"] for case in found.values()] == [["done"]] * 3
    for campaign in found:
        (run,) = summary.summarize(tmp_path / campaign)["runs"]
        assert run["why_invalid"] is None
        assert_no_secret(tmp_path / campaign)
    (capture,) = (tmp_path / "capture").glob("runs/*/air.pcap")
    words = ["tshark", "-r", str(capture), "-Y", "tcp.len > 1000", "-T", "fields", "-e", "ip.src"]
    sources = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert len(sources) > 1000 and set(sources) == {"10.1.0.11"}  # one.toml: an upload of sta1
    (notes,) = found["power"]["notes"]
    assert not [note for note in notes if "regulatory" in note or "10 dBm" in note]


@pytest.mark.slow
def test_the_demo_on_nodes_gives_the_labs_table(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """The bars of tests/experiments/test_demo.py, on runs of 12 s."""
    need_apt()
    console = tmp_path / "console.log"
    words = ["run", "demo", "--set", "duration_s=12", "--set", "warmup_s=3"]
    words += ["--set", 'ap.qdisc=["pfifo limit 100", "lasack limit 100 inflight off"]']
    result = laboratory.boot(lab_kernel, "command.py", tmp_path, 4, words, console)
    assert result.status == 0, result.why or console.read_text()
    assert "All 6 nodes are as they were before." in console.read_text()
    runs = summary.summarize(tmp_path / "campaign")["runs"]
    assert [run["why_invalid"] for run in runs] == [None, None]
    fifo, lasack = (run["ratio_down_up"] for run in runs)
    assert fifo < 0.3
    assert 0.85 <= lasack <= 1.15
