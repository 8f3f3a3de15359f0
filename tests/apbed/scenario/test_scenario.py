# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files: what is refused, and how sweeps expand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apbed.cli import main
from apbed.errors import ApbedError
from apbed.scenario import catalogue, parse
from apbed.scenario.plan import Plan, Sleep
from guest.network import queue_words

CELL = """
schema = 1
name = "cell"
title = "one upload"
duration_s = 10
[ap]
qdisc = "fq_codel"
[station]
count = 1
[[flow]]
id = "up"
station = "sta1"
dir = "up"
"""
SLEEP = '[[sleep]]\nstation = "sta1"\nstart_s = 3\nseconds = 2\n'

FRAMES = "every_s = 0.02\nbytes = 64\ndatagrams = 3"


def load(tmp_path: Path, text: str = CELL, *settings: str) -> parse.Scenario:
    path = tmp_path / "cell.toml"
    path.write_text(text)
    return parse.load(path, settings)


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("ap.qdics=fq", "cell.toml: unknown key 'ap.qdics'; did you mean 'ap.qdisc'?"),
        ("medium.retry=0", "cell.toml: medium.retry = 0: expected at least 1"),
        ("medium.retry=seven", "cell.toml: medium.retry = 'seven': expected a whole number"),
        ("medium.eifs=1", "cell.toml: medium.eifs = 1: expected true or false"),
        (
            "medium.rates=minstrel",
            "cell.toml: medium.rates = 'minstrel': expected one of fixed, kernel",
        ),
        ("medium.rts=-2", "cell.toml: medium.rts = -2: expected at least -1"),
        ("duration_s=nan", "cell.toml: duration_s = nan: expected a finite number"),
        ("wired.delay_ms=inf", "cell.toml: wired.delay_ms = inf: expected a finite number"),
        ("medium.retry=7/256", "cell.toml: medium.retry = '7/256': expected a whole number"),
        ("medium.retry=999/4", "cell.toml: medium.retry = '999/4': expected a whole number"),
        (
            "medium.stations=sta2,rate=1",
            "cell.toml: medium.stations: no station 'sta2'; expected one of ['ap', 'sta1']",
        ),
        (
            "medium.hidden=sta1:sta2",
            "cell.toml: medium.hidden: 'sta1:sta2': expected A:B, two of ['ap', 'sta1']",
        ),
        (
            "medium.stations=sta1",
            "cell.toml: medium.stations: 'sta1': expected NAME,FIELD=VALUE, as sta1,rate=1",
        ),
        (
            "medium.stations=ap,snr=9 ap,rate=1",
            "cell.toml: medium.stations: ap is there twice",
        ),
        ("station.count=65", "cell.toml: station.count = 65: expected at most 64"),
        ("seed=[]", "cell.toml: seed = []: expected at least one value"),
        ("seed=[1,1]", "cell.toml: two runs of the sweep are the same; remove the repeated value"),
        ("ap.security=wep", "cell.toml: ap.security = 'wep': expected one of open, wpa2"),
        ("tcp.mss=1461", "cell.toml: tcp.mss = 1461: expected at most 1460"),
        ("station.retry=256", "cell.toml: station.retry = 256: expected at most 255"),
        (
            "wired.sysctl.vm.swappiness=0",
            "cell.toml: wired.sysctl.vm.swappiness: expected a sysctl of a network namespace, "
            "such as net.ipv4.tcp_ack_skip",
        ),
        (
            "station.sysctl.net.ipv4.tcp_sack=true",
            "cell.toml: station.sysctl.net.ipv4.tcp_sack = True: expected a whole number",
        ),
        ("schema=2", "cell.toml: schema = 2: expected at most 1"),
        ("warmup_s=10", "cell.toml: warmup_s: expected less than duration_s"),
        ("seed", "cell.toml: --set seed: expected KEY=VALUE, for example seed=[1,2,3]"),
    ],
)
def test_bad_value_is_one_line(tmp_path: Path, setting: str, line: str) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL, setting)
    assert str(refused.value) == line


def test_the_access_point_has_no_sysctls(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match=r"unknown key 'ap.sysctl.net.ipv4.tcp_sack'"):
        load(tmp_path, CELL, "ap.sysctl.net.ipv4.tcp_sack=0")


def test_the_kernel_chooses_among_rates_that_the_guest_offers(tmp_path: Path) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL, "medium.rates=kernel", "medium.phy=ht20")
    assert str(refused.value) == (
        "cell.toml: medium.rates = 'kernel': "
        "expected medium.phy to be hrdsss-11 or erp-ofdm, not 'ht20'"
    )
    load(tmp_path, CELL, "medium.rates=kernel", "medium.phy=erp-ofdm-54-longslot")


QUEUES = ("ap.radio=queues", "station.radio=queues")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (["ap.radio=iwlwifi"], "ap.radio = 'iwlwifi': expected one of direct, queues"),
        (["ap.hw_frames=0"], "ap.hw_frames = 0: expected at least 1"),
        (["station.hw_frames=65"], "station.hw_frames = 65: expected at most 64"),
        (["ap.aql=1"], "ap.aql = 1: expected true or false"),
        (["ap.aql=true"], "ap.aql = true: expected only with ap.radio = 'queues'"),
        (
            ["ap.radio=queues", "station.airtime_fairness=true"],
            "station.airtime_fairness = true: expected only with station.radio = 'queues'",
        ),
        (["ap.hw_frames=3"], "ap.hw_frames = 3: expected only with ap.radio = 'queues'"),
        (
            ["ap.radio=queues", "station.hw_frames=[8, 9]"],
            "station.hw_frames = 9: expected only with station.radio = 'queues'",
        ),
        (
            ["ap.stall_ms=200"],
            "ap.stall_ms = 200: expected only with ap.inflight, the bound that it belongs to",
        ),
        (
            ["station.radio=queues", "ap.qdisc=noqueue"],
            "ap.qdisc = 'noqueue': expected ap.radio = 'queues' with it; below a direct radio's "
            "device nothing holds packets",
        ),
        (
            [*QUEUES, "ap.qdisc=noqueue", "ap.child=lasack"],
            "ap.child = 'lasack': expected none with noqueue, which has no classes",
        ),
        (
            [*QUEUES, "ap.qdisc=noqueue", "ap.ack_child=lasack"],
            "ap.ack_child = 'lasack': expected none with noqueue, which has no classes",
        ),
        (
            [*QUEUES, "station.qdisc=noqueue"],
            "station.inflight = 1: expected 0 with noqueue, which holds nothing back",
        ),
        (["vng.radio=queues"], "unknown key 'vng.radio'; did you mean 'ap.radio'?"),
    ],
)
def test_a_radio_and_its_queue_fit(tmp_path: Path, settings: list[str], line: str) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL, *settings)
    assert str(refused.value) == f"cell.toml: {line}"


def test_radios_are_direct_unless_said(tmp_path: Path) -> None:
    plan = load(tmp_path, CELL).runs[0].plan
    assert (plan.ap.radio, plan.station.radio, plan.queues) == ("direct", "direct", False)
    noqueue = ("ap.qdisc=noqueue", "station.qdisc=noqueue", "station.inflight=0")
    plan = load(tmp_path, CELL, *QUEUES, *noqueue, "ap.airtime_fairness=true").runs[0].plan
    assert plan.queues
    assert (plan.ap.airtime_fairness, plan.station.airtime_fairness) == (True, False)
    assert (plan.ap.hw_frames, plan.ap.aql) == (8, False)
    assert Plan.from_json(plan.to_json()) == plan
    assert load(tmp_path, CELL, "station.radio=queues").runs[0].plan.queues
    assert load(tmp_path, CELL, "ap.radio=queues", "medium.phy=erp-ofdm-54").runs[0].plan.queues
    direct = load(tmp_path, CELL, "medium.phy=vht80").runs[0].plan
    assert (direct.queues, direct.sessions, direct.sessions_ac) == (False, False, False)
    ac = load(tmp_path, CELL, "station.radio=queues", "medium.phy=vht80-mcs0").runs[0].plan
    assert (ac.queues, ac.sessions, ac.sessions_ac) == (True, True, True)
    n = load(tmp_path, CELL, "station.radio=queues", "medium.phy=ht20").runs[0].plan
    assert (n.queues, n.sessions, n.sessions_ac) == (True, True, False)


def test_edca_has_categories_for_32_radios(tmp_path: Path) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL, "medium.edca=default", "station.count=32")
    assert str(refused.value) == (
        "cell.toml: medium.edca = 'default': expected at most 31 stations with it"
    )
    load(tmp_path, CELL, "medium.edca=default", "station.count=31")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            'dir = "up"',
            'dir = "sideways"',
            "flow 1: dir = 'sideways': expected one of up, down, pulse",
        ),
        ('dir = "up"', "", "flow 1: dir is missing"),
        (
            'id = "up"',
            'id = "a b"',
            "flow 1: id = 'a b': expected letters, digits, - . _, at most 32",
        ),
        ('"sta1"', '"sta2"', "flow 1: station = 'sta2': expected one of ['sta1']"),
        ("[[flow]]", "[flow]", "flow: expected tables, each under [[flow]]"),
        ("[ap]", 'case = "x"\n[ap]', "case: expected tables, each under [[case]]"),
        ("[ap]", 'figure = "x"\n[ap]', "figure: expected tables, each under [[figure]]"),
        ("[ap]", "sleep = [1]\n[ap]", "sleep: expected tables, each under [[sleep]]"),
        (
            'dir = "up"',
            'dir = "up"\nrenew_s = 1e-6',
            "flow 1: renew_s: 10000000 connections; expected at most 50000",
        ),
        (
            'dir = "up"',
            'dir = "up"\nstart_s = 11',
            "flow 1: it would start after the end of the run",
        ),
        ('dir = "up"', 'dir = "pulse"', "flow 1: every_s is missing; a pulse flow needs"),
        ('dir = "up"', 'dir = "up"\nlate_s = 1', "flow 1: late_s: expected only for datagrams"),
        ('dir = "up"', f'dir = "ping"\n{FRAMES}', "flow 1: datagrams: expected 1"),
        ('dir = "up"', 'dir = "up"\ndscp = "VO"', "flow 1: dscp = 'VO': expected one of BE, CS1"),
        ('dir = "up"', 'dir = "quic_up"\ndscp = "EF"', "flow 1: dscp: expected only for TCP"),
        ('dir = "up"', 'dir = "up"\nrate = 3', "flow 1: unknown key 'rate'"),
        ('dir = "up"', 'dir = "up"\nrenew_s = 5e-324', "flow 1: renew_s: inf connections"),
        (
            'dir = "up"',
            'dir = "pulse"\nbytes = 9\nevery_s = 5e-324',
            "flow 1: every_s: inf datagrams; expected at most 1000000000",
        ),
        ('dir = "up"', 'dir = "up"\nrenew_s = 0', "flow 1: renew_s: expected more than 0"),
        ('dir = "up"', 'dir = "pulse"\nrenew_s = 1', "flow 1: renew_s: expected more"),
        ("[[flow]]", '[[sleep]]\nstation = "sta1"\n[[flow]]', "sleep 1: start_s is missing"),
        ("[[flow]]", f"{SLEEP.replace('sta1', 'ap')}[[flow]]", "sleep 1: station = 'ap': expected"),
        ("[[flow]]", f"{SLEEP.replace('= 3', '= 10')}[[flow]]", "sleep 1: it would start after"),
        (
            "[[flow]]",
            f"{SLEEP.replace('= 3', '= 3.5')}[[flow]]",
            "sleep 1: start_s = 3.5: expected",
        ),
        ('name = "cell"', "", "name is missing"),
        ('name = "cell"', 'name = "cell', "Illegal character"),
    ],
)
def test_bad_file_is_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL.replace(old, new, 1))
    assert str(refused.value).startswith(f"cell.toml: {line}")
    assert "\n" not in str(refused.value)


def test_two_flows_need_two_names(tmp_path: Path) -> None:
    twice = CELL + CELL[CELL.index("[[flow]]") :]
    with pytest.raises(ApbedError, match="expected a name no other flow has"):
        load(tmp_path, twice)


def test_a_list_is_a_sweep_and_params_name_it(tmp_path: Path) -> None:
    plan = load(tmp_path, CELL, 'ap.qdisc=["fq_codel", "pfifo limit 100"]', "medium.retry=[1, 7]")
    assert [run.params for run in plan.runs] == [
        {"qdisc": qdisc, "inflight": 0, "seed": 1, "kernel": "default", "medium.retry": retry}
        for retry in (1, 7)
        for qdisc in ("fq_codel", "pfifo limit 100")
    ]
    assert len({run.id for run in plan.runs}) == 4


def test_a_scenario_is_called_as_apbed_run_takes_it(tmp_path: Path) -> None:
    """One that comes with apbed by its name, another by its file."""
    assert load(tmp_path, CELL).word == str(tmp_path / "cell.toml")
    assert parse.load(catalogue.find("demo")).word == "demo"


def test_a_version_is_a_word(tmp_path: Path) -> None:
    runs = load(tmp_path, CELL, "kernel=[6.10, 7.2]").runs
    assert [run.params["kernel"] for run in runs] == ["6.10", "7.2"]


def test_a_flow_lasts_as_long_as_the_run(tmp_path: Path) -> None:
    text = CELL.replace('dir = "up"', 'dir = "up"\nstart_s = 4')
    assert load(tmp_path, text).runs[0].plan.flows[0].seconds == 6.0


def test_a_renewed_flow_is_one_connection_after_the_other(tmp_path: Path) -> None:
    """From 1 s on, every 4 s a new one; the last ends with the run."""
    text = CELL.replace('dir = "up"', 'dir = "up"\nstart_s = 1\nrenew_s = 4')
    flows = load(tmp_path, text).runs[0].plan.flows
    assert [(flow.id, flow.start_s, flow.seconds) for flow in flows] == [
        ("up-1", 1.0, 4.0),
        ("up-2", 5.0, 4.0),
        ("up-3", 9.0, 1.0),
    ]


def test_a_renewed_flow_of_a_size_is_whole_each_time(tmp_path: Path) -> None:
    text = CELL.replace('dir = "up"', 'dir = "up"\nrenew_s = 4\nbytes = 1000')
    flows = load(tmp_path, text).runs[0].plan.flows
    assert [(flow.id, flow.start_s, flow.bytes) for flow in flows] == [
        ("up-1", 0.0, 1000),
        ("up-2", 4.0, 1000),
        ("up-3", 8.0, 1000),
    ]
    assert {flow.seconds for flow in flows} == {None}


def test_a_flow_of_each_station_follows_their_number(tmp_path: Path) -> None:
    each = CELL.replace('station = "sta1"', 'station = "each"')
    one, three = load(tmp_path, each, "station.count=[1, 3]").runs
    assert [(flow.id, flow.station) for flow in three.plan.flows] == [
        ("up-sta1", "sta1"),
        ("up-sta2", "sta2"),
        ("up-sta3", "sta3"),
    ]
    assert [flow.id for flow in one.plan.flows] == ["up-sta1"]
    later = each.replace('dir = "up"', 'dir = "up"\nstart_s = 1\nstagger_s = 0.5\nbytes = 1000')
    (run,) = load(tmp_path, later, "station.count=3").runs
    assert [flow.start_s for flow in run.plan.flows] == [1.0, 1.5, 2.0]
    with pytest.raises(ApbedError, match="stagger_s: expected only with station = 'each'"):
        load(tmp_path, later.replace('"each"', '"sta1"'))


def test_sysctls_are_swept_as_any_key(tmp_path: Path) -> None:
    """However TOML says the name; a value with spaces is text, a list is a sweep."""
    quoted = CELL.replace("[ap]", '[wired.sysctl]\n"net.ipv4.tcp_rmem" = "4096 8192 8192"\n[ap]')
    dotted = quoted.replace("[ap]", "[station.sysctl.net.ipv4]\ntcp_ack_skip = [0, 3]\n[ap]")
    runs = load(tmp_path, dotted).runs
    path = "station.sysctl.net.ipv4.tcp_ack_skip"
    assert [run.params[path] for run in runs] == [0, 3]
    for run, skip in zip(runs, (0, 3), strict=True):
        assert run.plan.station.sysctls == {"net.ipv4.tcp_ack_skip": skip}
        assert run.plan.wired.sysctls == {"net.ipv4.tcp_rmem": "4096 8192 8192"}


def test_a_sleep_is_part_of_the_plan(tmp_path: Path) -> None:
    runs = load(tmp_path, CELL.replace("[[flow]]", f"{SLEEP}[[flow]]"), "seed=[1, 2]").runs
    for run in runs:
        assert run.plan.sleeps == (Sleep("sta1", 3, 2),)


def test_every_scenario_that_comes_with_apbed_loads() -> None:
    """Also those below papers/; a name belongs to one file, wherever it lies."""
    names = [path.stem for path in catalogue.files()]
    assert {"demo", "http-queueing-f3-f6"} <= set(names) and len(names) == len(set(names))
    for name in names:
        assert parse.load(catalogue.find(name)).name == name


def test_a_plan_is_read_as_it_was_parsed() -> None:
    """Every run of every scenario, through JSON. Another schema or a key too many is refused."""
    plans = [run.plan for path in catalogue.files() for run in parse.load(path).runs]
    for plan in plans:
        assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    table = plans[0].to_json()
    for broken in (table | {"schema": 1}, table | {"tcp": {"mss": 0, "ecn": 1}}, {"schema": 2}):
        with pytest.raises(ValueError, match="plan"):
            Plan.from_json(broken)


def test_unknown_scenario_lists_the_known_ones() -> None:
    with pytest.raises(ApbedError, match=r"no scenario 'nosuch'; give a file, or one of: .*demo"):
        catalogue.find("nosuch")


def test_a_mix_is_a_station_for_each_connection(tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.toml"
    mixed.write_text(
        'schema = 1\nname = "m"\ntitle = "m"\nduration_s = 1\nmix = ["dl1-ul2", "dl2-ul0"]\n'
        '[ap]\nqdisc = "pfifo"\n'
    )
    first, second = parse.load(mixed).runs
    assert [(flow.id, flow.station) for flow in first.plan.flows] == [
        ("up1", "sta1"),
        ("up2", "sta2"),
        ("down1", "sta3"),
    ]
    assert first.plan.station.count == 3 and first.params["mix"] == "dl1-ul2"
    assert [flow.dir for flow in second.plan.flows] == ["down", "down"]
    begun = [
        flow.start_s
        for flow in parse.load(mixed, ["duration_s=3", "mix_stagger_s=0.5"]).runs[0].plan.flows
    ]
    assert begun == [0.0, 0.5, 1.0]
    for word in ("dl0-ul0", "dl33-ul32", "2-2", "ul1-dl1"):
        with pytest.raises(ApbedError, match=r"mix = .*: expected such as 'dl2-ul1'"):
            parse.load(mixed, [f"mix={word}"])


def test_list_names_what_run_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """Every name that `apbed list` prints is one of the catalogue's, with as many runs."""
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["scenarios"]
    assert [one["name"] for one in listed] == [path.stem for path in catalogue.files()]
    (demo,) = [one for one in listed if one["name"] == "demo"]
    assert demo["runs"] == 3 and "up-down-fairness" in demo["source"]


def test_short_replaces_values_and_is_replaced(tmp_path: Path) -> None:
    """The file's [short] counts only if asked for; --set goes before it."""
    (tmp_path / "cell.toml").write_text(CELL + "[short]\nduration_s = 4.0\nap.qdisc = 'cake'\n")
    (long,) = parse.load(tmp_path / "cell.toml").runs
    assert (long.plan.duration_s, long.plan.ap.qdisc) == (10.0, "fq_codel")
    (short,) = parse.load(tmp_path / "cell.toml", ["duration_s=3.0"], short=True).runs
    assert (short.plan.duration_s, short.plan.ap.qdisc) == (3.0, "cake")


def test_datagrams_end_a_second_before_the_run(tmp_path: Path) -> None:
    """What is on its way at the end counts as lost. From 4 s to 9 s, one each 20 ms."""
    text = CELL.replace('dir = "up"', f'dir = "pulse"\nstart_s = 4\nlate_s = 0.05\n{FRAMES}')
    (flow,) = load(tmp_path, text).runs[0].plan.flows
    assert (flow.count, flow.datagrams, flow.late_s) == (250, 3, 0.05)
    with pytest.raises(ApbedError, match="flow 1: count: expected at least 1"):
        load(tmp_path, text, "duration_s=5")


def test_marks_have_the_names_of_their_rfcs(tmp_path: Path) -> None:
    """RFC 2474: CS6 is 110000; 2597: AF41 is 100010; 3246: EF is 101110; 8622: LE is 000001."""
    for name, dscp in {"BE": 0, "CS6": 0b110000, "AF41": 0b100010, "EF": 0b101110, "LE": 1}.items():
        text = CELL.replace('dir = "up"', f'dir = "up"\ndscp = "{name}"')
        (flow,) = load(tmp_path, text).runs[0].plan.flows
        assert flow.dscp == dscp


def test_an_automatic_bound_is_inflights_own(tmp_path: Path) -> None:
    plan = load(tmp_path, CELL, "ap.inflight=auto", "ap.qdisc=fq_codel", "station.inflight=auto")
    (run,) = plan.runs
    replace = ["tc", "qdisc", "replace", "dev", "wlan0"]
    assert queue_words("wlan0", run.plan.ap) == [
        [*replace, "root", "handle", "1:", "inflight", "limit", "auto", "stall", "100ms"],
        [*replace, "parent", "1:1", "handle", "2:", "fq_codel"],
    ]
    assert run.plan.station.inflight == "auto"


def test_the_stall_time_is_the_roles_own(tmp_path: Path) -> None:
    (run,) = load(tmp_path, CELL, "ap.inflight=1", "ap.stall_ms=2000").runs
    bound, _ = queue_words("wlan0", run.plan.ap)
    assert bound[-2:] == ["stall", "2000ms"]
    bound, _ = queue_words("wlan1", run.plan.station)
    assert bound[-2:] == ["stall", "100ms"]


def test_classes_have_queues_of_their_own(tmp_path: Path) -> None:
    settings = ["ap.inflight=0", "ap.qdisc=ackwrr weights auto", "ap.child=lasack limit 9"]
    (run,) = load(tmp_path, CELL, *settings).runs
    replace = ["tc", "qdisc", "replace", "dev", "wlan0"]
    assert queue_words("wlan0", run.plan.ap) == [
        [*replace, "root", "handle", "2:", "ackwrr", "weights", "auto"],
        [*replace, "parent", "2:1", "lasack", "limit", "9"],
    ]
    (run,) = load(tmp_path, CELL, *settings, "ap.ack_child=pfifo").runs
    assert queue_words("wlan0", run.plan.ap)[1:] == [
        [*replace, "parent", "2:1", "lasack", "limit", "9"],
        [*replace, "parent", "2:2", "pfifo"],
    ]
