# SPDX-License-Identifier: GPL-2.0-only
"""Configuration files of wmediumd, as its manual, hostap's tests and mininet-wifi write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from math import dist, log10, pi
from pathlib import Path

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog
from tests.medium.dcfmedium import BIN, assert_refused, output, statistics

Options = list[tuple[str, str]]
Point = tuple[float, ...]


def ifaces(n: int, more: str = "") -> str:
    """The section `ifaces` of n radios."""
    ids = ", ".join(f'"02:00:00:00:{k:02x}:00"' for k in range(n))
    return f"ifaces :\n{{\n\tids = [\n{ids}\n\t];\n{more}}};\n"


def options(path: Path, text: str) -> Options:
    """What the file says, in the words of `dcfmedium hwsim`, stations aside."""
    path.write_text(text)
    lines = output("wmediumd", str(path)).splitlines()
    words = [line.removeprefix("--").split(" ", 1) for line in lines]
    n = len(re.findall(r'"02:', text))
    stations = [value for name, value in words if name == "station"]
    assert stations == [f"02:00:00:00:{k:02x}:00,name=iface{k}" for k in range(n)]
    return [(name, value) for name, value in words if name != "station"]


def links(found: Options) -> dict[tuple[int, int], float]:
    """The links' SNRs in dB by sender and receiver."""
    matches = [
        re.fullmatch(r"iface(\d+):iface(\d+),snr=(.*)", value)
        for name, value in found
        if name == "link"
    ]
    return {(int(m[1]), int(m[2])): float(m[3]) for m in matches if m}


def hidden(pairs: Iterable[tuple[int, int]]) -> set[tuple[str, str]]:
    """Options of pairs that do not hear each other."""
    return {("hidden", f"iface{a}:iface{b}") for a, b in pairs}


@pytest.fixture
def cfg(tmp_path: Path) -> Path:
    return tmp_path / "wmediumd.cfg"


def test_radios_alone_have_wmediumds_snr(cfg: Path) -> None:
    assert options(cfg, ifaces(4)) == [("channel", "snr=30")]


def test_snr_of_links_holds_both_ways(cfg: Path) -> None:
    """What is below wmediumd's threshold is not heard; what is 30 needs no word."""
    text = "\tlinks = (\n\t\t(0, 1, 0),\n\t\t(0, 2, 10),\n\t\t(1, 2, 30)\n\t);\n"
    assert options(cfg, ifaces(3, text)) == [
        ("channel", "snr=30"),
        ("hidden", "iface0:iface1"),
        ("link", "iface0:iface2,snr=10"),
        ("link", "iface2:iface0,snr=10"),
    ]


def test_mininets_snr_section(cfg: Path) -> None:
    """It writes default_prob there too. Links said for both directions may differ."""
    model = 'model:\n{\n\ttype = "snr";\n\tdefault_prob = 1.0;\n\tlinks = (\n'
    text = model + "\t\t(0, 1, 15),\n\t\t(1, 0, 20),\n\t\t(1, 2, -10)\n\t);\n};"
    assert options(cfg, ifaces(3) + text) == [
        ("channel", "snr=30"),
        ("link", "iface0:iface1,snr=15"),
        ("link", "iface1:iface0,snr=20"),
        ("hidden", "iface1:iface2"),
    ]


def test_a_mesh_of_hostaps_tests(cfg: Path) -> None:
    """A line of five: only neighbours hear each other, and nothing else is lost."""
    near = ",\n".join(f"        ({k}, {k + 1}, 0.000000)" for k in range(4))
    model = 'model:\n{\n    type = "prob";\n\n    default_prob = 1.0;\n    links = (\n'
    text = f"{model}{near}\n    );\n}};\n"
    first, *rest = options(cfg, ifaces(5) + text)
    assert first == ("channel", "loss=0")
    far = [(a, b) for a in range(5) for b in range(a + 2, 5)]
    assert set(rest) == hidden(far) and len(rest) == len(far)


def test_losses_default_and_one_way(cfg: Path) -> None:
    """prob mirrors a link; prob_asymmetric leaves the other way at the default."""
    text = 'model: { type = "prob"; default_prob = 0.1; links = ((0, 1, 0.25)); };'
    assert options(cfg, ifaces(3) + text) == [
        ("channel", "loss=0.1"),
        ("link", "iface0:iface1,loss=0.25"),
        ("link", "iface1:iface0,loss=0.25"),
    ]
    text = 'model: { type = "prob_asymmetric"; default_prob = 1; links = ((0, 1, 0.25)); };'
    assert options(cfg, ifaces(2) + text) == [
        ("channel", "loss=0"),
        ("link", "iface0:iface1,loss=0.25"),
        ("link", "iface1:iface0,loss=1"),
    ]


def test_the_older_matrix_of_losses(cfg: Path) -> None:
    """Right of the diagonal, as wmediumd reads it."""
    rows = (
        "\terror_probs = (\n\t\t[0.0, 0.5, 1.0],\n\t\t[0.9, 0.0, 0.0],\n\t\t[0.9, 0.9, 0.0]\n\t);\n"
    )
    assert options(cfg, ifaces(3, rows)) == [
        ("channel", "loss=0"),
        ("link", "iface0:iface1,loss=0.5"),
        ("link", "iface1:iface0,loss=0.5"),
        ("hidden", "iface0:iface2"),
    ]


def friis_db(d_m: float) -> float:
    """Free-space loss at 2412 MHz."""
    return 20 * log10(4 * pi * d_m * 2412e6 / 299792458)


def assert_snrs(
    found: Options,
    positions: list[Point],
    powers: list[float],
    losses: object,
    noise: float = -91,
    gains: float = 0,
) -> None:
    """Each link has power - loss - noise + gains; both below 1 dB are hidden."""
    assert callable(losses)
    said = links(found)
    n = len(positions)
    snr = {
        (a, b): powers[a] - losses(dist(positions[a], positions[b])) - noise + gains
        for a in range(n)
        for b in range(n)
        if a != b
    }
    far = {(a, b) for (a, b), db in snr.items() if db < 1 and snr[b, a] < 1}
    assert {option for option in found if option[0] == "hidden"} == hidden(
        (a, b) for a, b in far if a < b
    )
    assert set(said) == set(snr) - far
    for pair, db in said.items():
        assert db == pytest.approx(min(60, max(-30, snr[pair])), abs=1e-3), pair


def test_wmediumds_own_path_loss(cfg: Path) -> None:
    """Its interference example: four loud pairs far off, powers that differ."""
    positions: list[Point] = [(-70.0, 0.0), (0.0, 0.0), (70.0, 0.0), (-2.0, 130.0), (2.0, 130.0)]
    powers = [15.0, 15.0, 15.0, 11.0, 11.0]
    text = (
        'model :\n{\n\ttype = "path_loss";\n\tpositions = (\n'
        + ",\n".join(f"\t\t({x:5.1f}, {y:6.1f})" for x, y in positions)
        + f"\n\t);\n\ttx_powers = ({', '.join(map(str, powers))});\n\n"
        '\tmodel_name = "log_distance";\n\tpath_loss_exp = 3.5;\n\txg = 0.0;\n};\n'
    )
    found = options(cfg, ifaces(5, "\tenable_interference = true;\n") + text)
    assert found[0] == ("channel", "snr=30")
    assert_snrs(found, positions, powers, lambda d: friis_db(1) + 35 * log10(d))


MININET: list[Point] = [(10.0, 20.0, 0.0), (30.0, 20.0, 0.0), (50.0, 25.0, 3.0), (9000.0, 0.0, 0.0)]


def mininet(model: str, fading: int = 0) -> str:
    """The file that mininet-wifi's mode `interference` makes; powers are whole numbers there."""
    points = ",".join(f"\n\t\t({x:.1f}, {y:.1f}, {z:.1f})" for x, y, z in MININET)
    return (
        ifaces(4, "\tenable_interference = true;")
        + f'\nmodel:\n{{\n\ttype = "path_loss";\n\tpositions = ({points}\n\t);'
        f"\n\tfading_coefficient = {fading};\n\tnoise_threshold = -95;"
        "\n\tisnodeaps = (1, 0, 0, 0);\n\ttx_powers = (14, 14, 20, 14);\n"
        f"\t{model}\n}};"
    )


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        ('model_name = "free_space";\n\tsL = 2;', lambda d: friis_db(d) + 10 * log10(2)),
        (
            'model_name = "log_distance";\n\tpath_loss_exp = 4.5;\n\txg = 0.0;',
            lambda d: friis_db(1) + 45 * log10(d),
        ),
        (
            'model_name = "log_normal_shadowing";\n\tpath_loss_exp = 3.0;\n\tsL = 1;',
            lambda d: friis_db(1) + 30 * log10(d),
        ),
        (
            'model_name = "itu";\n\tnFLOORS = 2;\n\tlF = 5;\n\tpL = 0;',
            lambda d: 20 * log10(2412) + (38 if d > 16 else 28) * log10(d) + 10 - 28,
        ),
        (
            'model_name = "itu";\n\tnFLOORS = 0;\n\tlF = 0;\n\tpL = 30;',
            lambda d: 20 * log10(2412) + 30 * log10(d) - 28,
        ),
    ],
)
def test_mininets_path_loss(cfg: Path, model: str, loss: object) -> None:
    """Three coordinates, and two antennas of 5 dBi as in its own wmediumd."""
    found = options(cfg, mininet(model))
    assert_snrs(found, MININET, [14, 14, 20, 14], loss, noise=-95, gains=10)


def test_mininets_fading(cfg: Path) -> None:
    model = 'model_name = "log_distance";\n\tpath_loss_exp = 3.0;\n\txg = 0.0;'
    assert options(cfg, mininet(model, fading=3))[0] == ("channel", "snr=30,fading=3")


def test_mediums_do_not_hear_each_other(cfg: Path) -> None:
    """mininet-wifi's medium_array: who is in no list shares one with the others in none."""
    found = options(cfg, ifaces(5, "\tmedium_array = ((0, 1), (2));\n"))
    pairs = [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)]
    assert found == [("channel", "snr=30"), *sorted(hidden(pairs))]


PATH_LOSS = """\
model : { type = "path_loss"; positions = ((0.0, 0.0), (1.0, 0.0)); tx_powers = (15.0, 15.0);
model_name = "log_distance"; path_loss_exp = 3.5; xg = 0.0;
};
"""
# Of two radios: the section `ifaces` with more in its line 6; a model that begins in line 7; and
# the model above with other words.
IFACES: list[tuple[str, int, str]] = [
    ("extra = 1;\n", 6, "extra: has no meaning here; remove it"),
    ("links = (\n(0, 2, 5));\n", 7, "links: 2 is not a whole number from 0 to 1"),
    ("links = (\n(0, 1));\n", 7, "links: has 2 members instead of 3, (FROM, TO, VALUE)"),
    ("links = ((1, 1, 5));\n", 6, "links: radio 1 has no link to itself"),
    ('links = ((0, 1, "x"));\n', 6, "links: is not a number"),
    ("links = ((0, 1, 61));\n", 6, "links: 61 is not a number of dB from -30 to 60"),
    ("links = (); error_probs = ();\n", 6, "links: links are described twice"),
    ("error_probs = ([0.0, 1.1], [0.0, 0.0]);\n", 6, "error_probs: 1.1 is not a probability"),
    ("error_probs = ([0.0, 1.0]);\n", 6, "error_probs: has 1 members instead of 2"),
    ("medium_array = ((0, 7));\n", 6, "medium_array: 7 is not a whole number from 0 to 1"),
]
MODELS: list[tuple[str, int, str]] = [
    ("model : { };", 7, "model: there is no type"),
    ('model : { type = "sinr"; };', 7, 'model.type: there is no type "sinr"; there are snr,'),
    ("model : { type = 1; };", 7, "model.type: is not a word in quotation marks"),
    ('model : { type = "snr";\npositions = (); };', 8, "model.positions: has no meaning here"),
    ('model : { type = "prob"; default_prob = 2; };', 7, "model.default_prob: 2 is not a prob"),
]
CHANGES: list[tuple[str, str, int, str]] = [
    ("};", "directions = (); };", 9, "directions: stations do not move here; remove it"),
    ("log_distance", "two_ray_ground", 8, 'model_name: there is no model "two_ray_ground"'),
    ("xg", "pmsr_sigma_m", 8, "pmsr_sigma_m: has no meaning here; remove it"),
    ("(15.0, 15.0)", "(15.0)", 7, "tx_powers: has 1 members instead of 2, one for each of"),
    ("(1.0, 0.0)", "(1.0)", 7, "positions: position 1 has 1 coordinates instead of 2 or 3"),
]
WRONG = [
    ("ifaces : { ids = [", 1, "syntax error"),
    ("\nifaces : { };\n", 2, "ifaces: there is no ids"),
    ("ifaces : { ids = []; };", 1, "ifaces.ids: has 0 members instead of 1 to 128"),
    ('ifaces : {\nids = "x"; };', 2, "ifaces.ids: is not a list"),
    ('ifaces : { ids = [\n"02:00"]; };', 2, 'ifaces.ids: "02:00" is not a station\'s address'),
    (ifaces(2) + "extra = 1;", 7, "extra: has no meaning here; remove it"),
    *((ifaces(2, more), line, f"ifaces.{says}") for more, line, says in IFACES),
    *((ifaces(2) + model, line, says) for model, line, says in MODELS),
    *((ifaces(2) + PATH_LOSS.replace(a, b), line, f"model.{says}") for a, b, line, says in CHANGES),
    (ifaces(2) + PATH_LOSS.replace("path_loss_exp = 3.5;", ""), 7, "model: there is no path_loss_"),
    (ifaces(2, "links = ();\n") + PATH_LOSS, 6, "ifaces.links: links are described twice"),
]


@pytest.mark.parametrize(("text", "line", "says"), WRONG)
def test_what_is_wrong_is_one_line(cfg: Path, text: str, line: int, says: str) -> None:
    """File, line and key; `hwsim` refuses it alike, before it looks for radios."""
    cfg.write_text(text)
    assert_refused(f"dcfmedium: {cfg}:{line}: {says}", "wmediumd", str(cfg))
    assert_refused(f"{cfg}:{line}: {says}", "hwsim", "--phy", "ofdm-54", "--wmediumd", str(cfg))


# Station 1 is in the access point's range, station 2 is not.
SCRIPT = """\
set -e
insmod {hwsim} radios=3
{bin}/dcfmedium hwsim --phy hrdsss-11 --edca default --wmediumd wmediumd.cfg --stats medium.json \
    --record arrivals.txt > ready &
medium=$!
sleep 0.1
printf 'interface=wlan0\\nssid=lab\\nhw_mode=b\\nchannel=1\\n' > /run/hostapd.conf
hostapd -B /run/hostapd.conf > hostapd.log
for n in 1 2; do
    iw dev wlan$n set type managed
    ip link set wlan$n up
    iw dev wlan$n connect -w lab 2412 > connect$n.log || true
done
kill $medium
wait $medium
"""


def test_radios_in_a_lab_kernel_have_its_links(lab_kernel: LabKernel, cfg: Path) -> None:
    """As in the file, who hears the access point associates; a replay decides the same."""
    out = cfg.parent
    cfg.write_text(ifaces(3, "\tlinks = (\n\t\t(0, 1, 25),\n\t\t(0, 2, -10)\n\t);\n"))
    script = SCRIPT.format(hwsim=lab_kernel.hwsim, bin=BIN)
    console = out / "console.log"
    guest = lab.Guest(lab_kernel, ["sh", "-c", script], out, workdir=out, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=120))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    assert "connected to 02:00:00:00:00:00" in (out / "connect1.log").read_text()
    assert "timed out" in (out / "connect2.log").read_text()
    stats = json.loads((out / "medium.json").read_text())
    radios = {station["name"].split("-")[0] for station in stats["stations"]}
    assert radios == {"iface0", "iface1", "iface2"}
    assert not any(stats["integrity"].values())
    again = statistics("replay", str(out / "arrivals.txt"))
    assert again["digest"] == stats["digest"]


def test_wrong_usage_is_one_line(tmp_path: Path) -> None:
    assert_refused("wmediumd needs one FILE", "wmediumd")
    assert_refused("wmediumd needs one FILE", "wmediumd", "--json")
    (tmp_path / "empty").write_text("")
    assert_refused("empty: there is no ifaces", "wmediumd", str(tmp_path / "empty"))
    assert_refused("nowhere: cannot read: No such file", "wmediumd", "nowhere")
    assert_refused(f"{tmp_path}: cannot read", "wmediumd", str(tmp_path))
