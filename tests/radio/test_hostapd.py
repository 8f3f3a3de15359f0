# SPDX-License-Identifier: GPL-2.0-only
"""EDCA as hostapd hands it out: its defaults, its lines, and who is told what."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.scenario import hostapd
from apbed.scenario.plan import Programs
from guest import categories
from guest.commands import CellError
from guest.radios import edca_words, hostapd_conf, stock_at_one_rate
from tests.apbed.scenario.test_scenario import CELL, load

# IEEE Std 802.11-2012, Table 8-105, aCWmin 15: AIFSN, number of values, TXOP limit in us.
STANDARD = "7:16:1024:0,3:16:1024:0,2:8:16:3008,2:4:8:1504"
# The values that hostapd.conf's example has for the access point, "based on the IEEE 802.11 draft".
OWN = "7:16:1024:0,3:16:64:0,1:8:16:3008,1:4:8:1504"
SMALL_AAP = "hostapd tx_queue_data2_aifs=2 tx_queue_data2_cwmin=7 tx_queue_data2_cwmax=15"


def test_the_stations_get_the_standards_set_and_the_access_point_its_own() -> None:
    assert edca_words("off") == []
    assert edca_words("default") == ["--edca", "default"]
    assert edca_words("hostapd") == ["--edca", STANDARD, "--edca", f"ap={OWN}"]


def test_a_line_changes_one_role() -> None:
    lists = edca_words(f"{SMALL_AAP} wmm_ac_be_cwmin=5 wmm_ac_vi_txop_limit=10")
    assert lists[1] == "7:16:1024:0,3:32:1024:0,2:8:16:320,2:4:8:1504"
    assert lists[3] == "ap=7:16:1024:0,2:8:16:0,1:8:16:3008,1:4:8:1504"
    # 2 ms as hostapd's driver rounds it: (20 * 100 + 16) / 32 units of 32 us.
    burst = hostapd.access_point("hostapd tx_queue_data2_burst=2.0")[1]
    assert burst.txop == 63


def test_hostapd_gets_the_same_lines(tmp_path: Path) -> None:
    conf = hostapd_conf(load(tmp_path, CELL, f"medium.edca={SMALL_AAP}").runs[0].plan)
    assert "wmm_enabled=1" in conf.splitlines()
    assert conf.splitlines()[-3:] == SMALL_AAP.split()[1:]


@pytest.mark.parametrize(
    ("hwsim", "said", "expected"),
    [
        ("/lib/modules/7.2/mac80211_hwsim.ko.xz", [], True),
        ("/lib/modules/6.1/mac80211_hwsim.ko", [], True),
        ("/build/lab_radio.ko", [], False),
        ("/lib/modules/7.2/mac80211_hwsim.ko", ["medium.phy=erp-54"], False),
        ("/lib/modules/7.2/mac80211_hwsim.ko", ["medium.stations=sta1,rate=1"], False),
        ("/lib/modules/7.2/mac80211_hwsim.ko", ["medium.rates=kernel"], False),
    ],
)
def test_only_stock_radios_at_one_rate_are_told_it(
    tmp_path: Path, hwsim: str, said: list[str], expected: bool
) -> None:
    plan = load(tmp_path, CELL, *said).runs[0].plan
    programs = Programs((), hwsim, "dcfmedium", "flowgen", "tc", "")
    assert stock_at_one_rate(plan, programs) == expected


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("wmm_enabled=1", "expected tx_queue_data0 to 3 with"),
        ("tx_queue_data4_aifs=1", "expected tx_queue_data0 to 3 with"),
        ("tx_queue_data2_txop_limit=1", "expected tx_queue_data0 to 3 with"),
        ("wmm_ac_be_burst=1", "expected tx_queue_data0 to 3 with"),
        ("tx_queue_data2_cwmin=8", "expected 1, 3, 7, 15... or 32767"),
        ("tx_queue_data2_cwmin=127", "tx_queue_data2_cwmin is larger than tx_queue_data2_cwmax"),
        ("wmm_ac_be_cwmin=11", "wmm_ac_be_cwmin is larger than wmm_ac_be_cwmax"),
        ("wmm_ac_be_cwmax=16", "expected 1 to 15"),
        ("tx_queue_data2_aifs=0", "expected 1 to 15"),
        ("wmm_ac_be_aifs=1", "expected 2 to 15"),  # mac80211 takes 2 instead
        ("wmm_ac_be_aifs=two", "expected a number"),
        ("wmm_ac_be_aifs", "expected a number"),
    ],
)
def test_what_hostapd_does_not_take_is_refused(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(ApbedError, match=r"^cell\.toml: medium\.edca: ") as caught:
        load(tmp_path, CELL, f"medium.edca=hostapd {line}")
    assert says in str(caught.value)


def told(aifs: int) -> str:
    """The driver's file of an access point whose best effort has this AIFSN."""
    return (
        "VO aifs 1 cw_min 3 cw_max 7 txop 47\nVI aifs 1 cw_min 7 cw_max 15 txop 94\n"
        f"BE aifs {aifs} cw_min 15 cw_max 63 txop 0\nBK aifs 7 cw_min 15 cw_max 1023 txop 0\n"
    )


STATION = (
    "VO aifs 2 cw_min 3 cw_max 7 txop 47\nVI aifs 2 cw_min 7 cw_max 15 txop 94\n"
    "BE aifs 3 cw_min 15 cw_max 1023 txop 0\nBK aifs 7 cw_min 15 cw_max 1023 txop 0\n"
)


def test_a_radio_that_was_told_something_else_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(categories, "DEBUGFS", tmp_path)
    words = ("station.count=1", "ap.radio=queues")
    plan = load(tmp_path, CELL, "medium.edca=hostapd", *words).runs[0].plan
    for number, text in enumerate((told(3), STATION)):
        directory = tmp_path / f"phy{number}" / "hwsim"
        directory.mkdir(parents=True)
        (directory / "edca").write_text(text)
    categories.check(plan)
    (tmp_path / "phy0" / "hwsim" / "edca").write_text(told(2))
    with pytest.raises(CellError, match=r"ap: hostapd gave BE \{'aifsn': 2, .* the medium has"):
        categories.check(plan)
    # What a scenario says itself, and a radio that keeps nothing, are not compared.
    categories.check(load(tmp_path, CELL, "medium.edca=default", *words).runs[0].plan)
    categories.check(load(tmp_path, CELL, "medium.edca=hostapd").runs[0].plan)
