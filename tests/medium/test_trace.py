# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's pcapng traces as Wireshark reads them, against the run's own statistics.

tshark reckons each frame's airtime from its rate, preamble and length: a second opinion.
"""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.medium.dcfmedium import assert_refused, saturate

FIELDS = {
    "interface": "frame.interface_name",
    "at": "frame.time_epoch",
    "tsft": "radiotap.mactime",
    "end": "radiotap.timestamp.ts",
    "airtime": "wlan_radio.duration",
    "kind": "wlan.fc.type_subtype",
    "retry": "wlan.fc.retry",
    "retries": "radiotap.data_retries",
    "mbps": "wlan_radio.data_rate",
    "freq": "radiotap.channel.freq",
    "bad": "radiotap.flags.badfcs",
    "short": "radiotap.flags.preamble",
    "fcs": "wlan.fcs.status",
    "tx_flags": "radiotap.txflags",
    "mcs": "radiotap.mcs.index",
    "vht_mcs": "radiotap.vht.mcs.0",
    "vht_bandwidth": "radiotap.vht.bw",
    "ampdu": "radiotap.ampdu.reference",
    "last": "radiotap.ampdu.flags.last",
    "bitmap": "wlan.ba.bm",
    "sequence": "wlan.seq",
    "first": "wlan.fixed.ssc.sequence",
    "from": "wlan.ta",
}
DATA, QOS_DATA, RTS, CTS, ACK, BLOCK_ACK, REQUEST = (
    "0x0020",
    "0x0028",
    "0x001b",
    "0x001c",
    "0x001d",
    "0x0019",
    "0x0018",
)
Frame = dict[str, str]


def tshark(path: Path, *words: str) -> list[str]:
    command = ["tshark", "-r", str(path), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@dataclass(frozen=True)
class Trace:
    """What a saturated cell's statistics say, and what its trace does."""

    path: Path
    stats: dict[str, Any]
    frames: list[Frame]

    def count(self, **wanted: str) -> int:
        """Frames with all these fields."""
        return sum(all(f[k] == v for k, v in wanted.items()) for f in self.frames)


def trace(path: Path, *words: str, stations: int = 5) -> Trace:
    cell = ["--stations", str(stations), "--payload", "1500", "--seconds", "1"]
    stats = saturate(*cell, "--pcap", path, *words)
    wanted = [word for field in FIELDS.values() for word in ("-e", field)]
    lines = tshark(path, "-T", "fields", *wanted)
    frames = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]
    return Trace(path, stats, frames)


@pytest.mark.parametrize(
    "words",
    [
        ("--phy", "hrdsss-11"),
        ("--phy", "hrdsss-11-short"),
        ("--phy", "erp-ofdm-54-protected"),
        ("--phy", "ofdm-54", "--rts", "0", "--channel", "loss=0.2"),
        ("--phy", "ht20", "--ampdu", "8", "--channel", "loss=0.2"),
        ("--phy", "vht80", "--ampdu", "8"),
    ],
    ids=lambda words: words[1],
)
def test_wireshark_finds_nothing_wrong(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Neither malformed frames nor experts' warnings; a retry is but a note."""
    air = trace(tmp_path / "air.pcapng", *words)
    assert len(air.frames) > 300
    assert tshark(air.path, "-Y", "_ws.malformed || _ws.expert.severity > 0x00400000") == []


def test_counts_are_the_statistics(tmp_path: Path) -> None:
    air = trace(tmp_path / "air.pcapng", "--phy", "hrdsss-11", "--retry", "2", stations=10)
    stats = air.stats
    assert air.count(kind=DATA) == stats["tx"]
    assert air.count(interface="collided") == stats["collisions"] > 0
    assert air.count(bad="1") == stats["collisions"]
    assert air.count(kind=ACK, interface="air") == stats["delivered"]
    given_up = sum(int(f["tx_flags"], 16) & 1 for f in air.frames)
    assert given_up == stats["drops"] > 0
    assert air.count(retry="1") == sum(s["retries"] for s in stats["stations"]) > 0
    assert air.count(retries="1") == air.count(retry="1")
    by_sender = Counter(f["from"] for f in air.frames if f["kind"] == DATA)
    assert by_sender == {s["addr"]: s["tx"] for s in stats["stations"]}


@pytest.mark.parametrize(
    ("words", "extension"),
    [
        (("--phy", "dsss-2"), 0),
        (("--phy", "hrdsss-11"), 0),
        (("--phy", "hrdsss-11-short"), 0),
        (("--phy", "ofdm-6"), 0),
        (("--phy", "ofdm-54", "--rts", "0"), 0),
        (("--phy", "ht20-mcs3", "--ampdu", "1"), 0),
        (("--phy", "erp-ofdm-24"), 6),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_airtime_is_wiresharks(tmp_path: Path, words: tuple[str, ...], extension: int) -> None:
    """From the stamp, which is TSFT, to the radiotap time stamp; tshark leaves out ERP's 6 us,
    and takes HT frames that begin together for parts of an A-MPDU."""
    for f in trace(tmp_path / "air.pcapng", *words).frames:
        if f["mcs"] and f["interface"] == "collided":
            continue
        start_ns = round(float(f["at"]) * 1e9)
        assert int(f["tsft"]) == start_ns // 1000
        assert int(f["end"]) - start_ns == (int(f["airtime"]) + extension) * 1000


def test_rates_and_preambles(tmp_path: Path) -> None:
    for profile, short in (("hrdsss-11", "0"), ("hrdsss-11-short", "1")):
        air = trace(tmp_path / "air.pcapng", "--phy", profile)
        assert {(f["kind"], f["mbps"], f["freq"], f["short"]) for f in air.frames} == {
            (DATA, "11", "2412", short),
            (ACK, "2", "2412", short),
        }
    air = trace(tmp_path / "air.pcapng", "--phy", "ofdm-54", "--rts", "0")
    assert {(f["kind"], f["mbps"], f["freq"]) for f in air.frames} == {
        (RTS, "24", "5180"),
        (CTS, "24", "5180"),
        (DATA, "54", "5180"),
        (ACK, "24", "5180"),
    }
    air = trace(tmp_path / "air.pcapng", "--phy", "ht20-mcs4")
    assert {f["mcs"] for f in air.frames if f["kind"] == QOS_DATA} == {"4"}
    air = trace(tmp_path / "air.pcapng", "--phy", "vht80-mcs8")
    data = [f for f in air.frames if f["kind"] == QOS_DATA]
    assert {(f["vht_mcs"], f["vht_bandwidth"]) for f in data} == {("8", "4")}


def test_rts_alone_collides_and_the_channel_loses_any(tmp_path: Path) -> None:
    """Each frame of the exchange goes with the same chance; what is lost is not answered."""
    words = ("--phy", "ofdm-54", "--rts", "0", "--channel", "loss=0.1")
    air = trace(tmp_path / "air.pcapng", *words)
    assert air.count(kind=RTS, interface="collided") == air.stats["collisions"] > 0
    assert air.count(interface="collided") == air.stats["collisions"]
    for sent, answer in ((RTS, CTS), (CTS, DATA), (DATA, ACK)):
        good = air.count(kind=sent, bad="0")
        assert good == air.count(kind=answer)
        assert air.count(kind=sent, bad="1", interface="air") > 0.05 * good
    assert air.count(kind=ACK, bad="0") == air.stats["delivered"]
    assert {f["fcs"] for f in air.frames if f["kind"] != DATA and f["bad"] == "0"} <= {"1", "2"}


def test_given_up_at_either_limit(tmp_path: Path) -> None:
    """802.11's two limits: an RTS that fails for the last time ends a frame, too."""
    words = ("--phy", "ofdm-54", "--rts", "0", "--retry", "3/2", "--channel", "loss=0.2")
    air = trace(tmp_path / "air.pcapng", *words)
    given_up = [f["kind"] for f in air.frames if int(f["tx_flags"], 16) & 1]
    assert len(given_up) == air.stats["drops"]
    assert {RTS, DATA} == set(given_up)


def test_ampdus_and_their_block_acks(tmp_path: Path) -> None:
    """One reference for the MPDUs of one A-MPDU, whose block ack names those that arrived."""
    air = trace(tmp_path / "air.pcapng", "--phy", "ht20", "--ampdu", "8", "--channel", "loss=0.2")
    aggregates: dict[str, list[Frame]] = defaultdict(list)
    answers: dict[str, Frame] = {}
    reference, asked = "", False
    for f in air.frames:
        if f["ampdu"]:
            reference = f["ampdu"]
            aggregates[reference].append(f)
        elif f["kind"] == BLOCK_ACK and not asked:
            answers[reference] = f
        asked = f["kind"] == REQUEST
    stations = air.stats["stations"]
    assert len(aggregates) == sum(s["ampdus"] for s in stations) > 100
    assert air.count(kind=REQUEST) == sum(s["bars"] for s in stations) > 0
    assert sum(map(len, aggregates.values())) == sum(s["ampdu_mpdus"] for s in stations)
    for reference, frames in aggregates.items():
        assert [f["last"] for f in frames] == ["0"] * (len(frames) - 1) + ["1"]
        assert len({(f["at"], f["end"], f["from"], f["interface"]) for f in frames}) == 1
        arrived = {int(f["sequence"]) for f in frames if f["bad"] == "0"}
        assert (reference in answers) == bool(arrived)
        if not arrived:
            continue
        bitmap = int.from_bytes(bytes.fromhex(answers[reference]["bitmap"]), "little")
        first = int(answers[reference]["first"])
        assert first == int(frames[0]["sequence"])
        assert {(first + i) % 4096 for i in range(64) if bitmap >> i & 1} == arrived


def test_a_trace_that_cannot_be_written() -> None:
    for path, why in (("/nowhere/x", "No such file"), ("/dev/full", "No space left")):
        words = ["saturate", "--stations", "2", "--phy", "ofdm-54", "--payload", "99"]
        refusal = f"--pcap: cannot write {path}: {why}"
        assert_refused(refusal, *words, "--pcap", path, status=1)
