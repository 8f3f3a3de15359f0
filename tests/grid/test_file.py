# SPDX-License-Identifier: GPL-2.0-only
"""Grid files: what they may say, and one clear line for what they may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.cli import main
from apbed.errors import ApbedError
from apbed.grid import file, supported
from apbed.grid.file import Grid
from apbed.run.machines import Backend
from apbed.scenario import catalogue, parse

GOOD = """\
schema = 1
name = "desk"
kernel = "6.1.0-56-amd64"
[radio]
channel = 1
country = "DE"
[ap]
host = "router"
wlan = "wlan0"
wired = "eth1"
[wired]
host = "laptop1"
wired = "eth0"
[[station]]
host = "laptop2"
wlan = "wlp2s0"
driver = "iwlwifi"
"""


def load(tmp_path: Path, text: str) -> Grid:
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return file.load(path)


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    grid = load(tmp_path, GOOD)
    assert [node.name for node in grid.nodes] == ["ap", "wired", "sta1"]
    assert (grid.directory, grid.lease_s, grid.arch) == ("/run/apbed", 20, "x86_64")
    assert {node.user for node in grid.nodes} == {"root"}


REFUSED = {
    ('name = "desk"', ""): "name is missing",
    ("schema = 1", "schema = 2"): "schema = 2: expected at most 1",
    ("schema = 1", "schema = 1\npassword = 'x'"): "unknown key 'password'",
    ('host = "router"', 'hots = "router"'): "ap: unknown key 'hots'; did you mean 'host'?",
    ('host = "router"', 'host = "-oProxyCommand=reboot"'): "expected a host's name or address",
    ('host = "router"', 'host = "a b"'): "expected a host's name or address",
    ('wlan = "wlan0"', 'wlan = "wlan0; reboot"'): "ap.wlan = 'wlan0; reboot'",
    ('wlan = "wlan0"', 'wlan = "../x"'): "expected a network device",
    ('wired = "eth1"', 'wired = "wlan0"'): "ap: wlan and wired are the same device",
    ('host = "laptop2"', 'host = "router"'): "sta1 and ap are both router",
    ("channel = 1", "channel = 0"): "radio: channel = 0: expected at least 1",
    ("channel = 1", "channel = 1\npassphrase = 'x'"): "radio: unknown key 'passphrase'",
    ('country = "DE"', 'country = "de"'): "expected a country in two capital letters",
    ("schema = 1", 'schema = 1\ndirectory = "/"'): "directory = '/': expected a directory below",
    ("schema = 1", 'schema = 1\ndirectory = "/run/../etc"'): "expected a directory below",
    ("schema = 1", "schema = 1\nlease_s = 1"): "lease_s = 1: expected at least 5",
    ("schema = 1", 'schema = 1\nssh_config = "none"'): "no such file beside the grid file",
    ("[[station]]", "[station]"): "expected 1 to 50 tables [[station]]",
    ("[radio]", "[radios]"): "[radio] is missing",
    ("[ap]", "[ap"): "grid.toml: ",
}


@pytest.mark.parametrize(("change", "said"), REFUSED.items(), ids=REFUSED.values())
def test_refused_in_one_line(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    assert change[0] in GOOD
    with pytest.raises(ApbedError) as error:
        load(tmp_path, GOOD.replace(*change, 1))
    line = str(error.value)
    assert line.startswith("grid.toml: ")
    assert said in line
    assert "\n" not in line


def test_the_key_names_what_changes_a_result(tmp_path: Path) -> None:
    """Another lease is the same grid, another channel is not."""
    key = load(tmp_path, GOOD).key
    assert load(tmp_path, GOOD.replace("schema = 1", "schema = 1\nlease_s = 30")).key == key
    assert load(tmp_path, GOOD.replace("channel = 1", "channel = 6")).key != key
    assert load(tmp_path, GOOD.replace("laptop2", "laptop3")).key != key


ONLY_THE_LAB = {
    "medium.eifs=false": "medium.eifs",
    "medium.edca=default": "medium.edca",
    "medium.rts=500": "medium.rts",
    "medium.channel=snr=20": "medium.channel",
    "medium.hidden=sta1:ap": "medium.hidden",
    "medium.stations=sta1,snr=12": "medium.stations",
    "medium.record=true": "medium.record",
    "ap.radio=queues": "radio = 'queues'",
    "medium.phy=vht80": "medium.phy = 'vht80'",
    "ap.tx_status_delay_ms=50": "tx_status_delay_ms",
    "station.count=2": "2 stations",
    "kernel=6.12": "kernel = '6.12'",
}
SCENARIO = """\
schema = 1
name = "one"
title = "one upload"
duration_s = 5.0
[ap]
qdisc = "pfifo limit 100"
[station]
count = 1
[[flow]]
id = "up1"
station = "sta1"
dir = "up"
"""


@pytest.mark.parametrize(("setting", "said"), ONLY_THE_LAB.items(), ids=ONLY_THE_LAB)
def test_what_only_the_lab_can_do_is_refused(setting: str, said: str, tmp_path: Path) -> None:
    grid, scenario = tmp_path / "grid.toml", tmp_path / "one.toml"
    grid.write_text(GOOD)
    scenario.write_text(SCENARIO)
    plan = parse.load(scenario, [setting])
    (run,) = plan.runs
    with pytest.raises(ApbedError) as error:
        machine = Backend("ssh", grid).machine(None if run.kernel == "default" else run.kernel)
        machine.accept(run.plan)
    assert said in str(error.value)


def test_sleeps_and_datagrams_are_refused(tmp_path: Path) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(GOOD)
    pulse = 'id = "p"\nstation = "sta1"\ndir = "pulse"\ncount = 1\nevery_s = 1\nbytes = 9\n'
    more = {
        '[[sleep]]\nstation = "sta1"\nstart_s = 1\nseconds = 1\n': "[[sleep]]",
        f"[[flow]]\n{pulse}": "pulses",
        '[[flow]]\nid = "q"\nstation = "sta1"\ndir = "quic_up"\n': "QUIC-like",
    }
    for table, said in more.items():
        scenario = tmp_path / "one.toml"
        scenario.write_text(SCENARIO + table)
        (run,) = parse.load(scenario).runs
        with pytest.raises(ApbedError, match="only the lab can") as error:
            supported.refuse(run.plan, file.load(grid))
        assert said in str(error.value)


def test_grid_and_backend_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(GOOD)
    for words in (["--backend", "ssh"], ["--grid", str(grid)]):
        assert main(["run", "demo", "--out", str(tmp_path / "out"), *words]) == 1
        assert "--backend ssh and --grid FILE go together" in capsys.readouterr().err
    words = ["--backend", "ssh", "--grid", str(grid), "--jobs", "2"]
    assert main(["run", "demo", "--out", str(tmp_path / "out"), *words]) == 1
    assert "one run at a time" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("phy", "rates", "basic"),
    [
        ("hrdsss-11", ["legacy-2.4", "11"], "basic_rates=10 20 55 110"),
        ("erp-ofdm-54", ["legacy-2.4", "54"], "basic_rates=60 120 240 540"),
        ("ht20", [], None),
    ],
)
def test_the_profile_as_rates(
    phy: str, rates: list[str], basic: str | None, tmp_path: Path
) -> None:
    grid = load(tmp_path, GOOD)
    (run,) = parse.load(catalogue.find("demo"), ["ap.qdisc=fq_codel", f"medium.phy={phy}"]).runs
    assert supported.rate_words(run.plan, grid) == rates
    lines = supported.hostapd_lines(run.plan, grid)
    assert basic is None or basic in lines
    assert ("ieee80211n=1" in lines) == (phy == "ht20")


def test_a_dry_run_says_what_the_grid_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    """Before a node is reached, and though no kernel and no module is there."""
    grid = ["--backend", "ssh", "--grid", str(REPOSITORY / "testbed/grids/orbit.toml"), "--dry-run"]
    assert main(["run", "demo", *grid]) == 0
    assert capsys.readouterr().out.count("\n") == 3
    assert main(["run", "rrul", *grid]) == 1
    assert "radio = 'queues'" in capsys.readouterr().err


def test_the_desk_has_a_station_for_short_flows(capsys: pytest.CaptureFixture[str]) -> None:
    """The grid of two laptops and a router, with the command of its page."""
    grid = ["--backend", "ssh", "--grid", str(REPOSITORY / "testbed/grids/desk.toml"), "--dry-run"]
    assert main(["run", "short-flows", "--set", "station.count=1", *grid]) == 0
    assert capsys.readouterr().out.count("\n") == 15
    assert main(["run", "short-flows", *grid]) == 1
    assert "4 stations, the grid desk 1" in capsys.readouterr().err
