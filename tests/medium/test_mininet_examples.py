# SPDX-License-Identifier: GPL-2.0-only
"""mininet-wifi's own examples: the files that it would write for them load in dcfmedium.

Each row is a kind of example: where its nodes are, and its mode. What the file says is in the
notation of mininet-wifi's wmediumd connector (tests/medium/test_wmediumd.py tests its models).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.medium.dcfmedium import assert_refused
from tests.medium.test_wmediumd import Options, ifaces, links, options

Place = tuple[float, float, float]
THREE: list[Place] = [(25, 40, 0), (12, 22, 0), (30, 70, 0)]
ITU = 'model_name = "itu";\n\tnFLOORS = 0;\n\tlF = 0;\n\tpL = 0;'
LOG_DISTANCE = 'model_name = "log_distance";\n\tpath_loss_exp = {:.1f};\n\txg = 0.0;'


def interference(
    places: Sequence[Place], model: str, fading: int = 0, more: str = "", power: object = 14
) -> str:
    """Positions and a propagation model; the first node is the access point."""
    points = ",".join(f"\n\t\t({x:.1f}, {y:.1f}, {z:.1f})" for x, y, z in places)
    nodes = ", ".join("1" if number == 0 else "0" for number in range(len(places)))
    powers = ", ".join([str(power)] * len(places))
    return (
        ifaces(len(places), f"{more}\tenable_interference = true;")
        + f'\nmodel:\n{{\n\ttype = "path_loss";\n\tpositions = ({points}\n\t);'
        f"\n\tfading_coefficient = {fading};\n\tnoise_threshold = -91;"
        f"\n\tisnodeaps = ({nodes});\n\ttx_powers = ({powers});\n\t{model}\n}};"
    )


def by_links(kind: str, given: Sequence[str]) -> str:
    """The modes `snr` and `error_prob`."""
    rows = ",".join(f"\n\t\t({row})" for row in given)
    model = f'\ttype = "{kind}";\n\tdefault_prob = 1.0;\n\tlinks = ({rows}\n\t);'
    return f"{ifaces(4)}model:\n{{\n{model}\n}};"


ON_ONE_SPOT: list[Place] = [(50, 50, 0), (0, 0, 0), (0, 0, 0)]
NINE: list[Place] = [(300.0 * (n // 3), 40.0 * (n % 3), 0) for n in range(9)]
EXAMPLES = {
    "interference": interference(THREE, LOG_DISTANCE.format(4), fading=3),
    "handover": interference(THREE, LOG_DISTANCE.format(5)),
    "ad hoc": interference(THREE[:2], LOG_DISTANCE.format(4.5), power=20),
    "powers with a fraction": interference(THREE, LOG_DISTANCE.format(3), power=13.5),
    "free space": interference(THREE, 'model_name = "free_space";\n\tsL = 1;'),
    # Nodes that mobility moves later begin together; a node may have two radios.
    "mobility": interference(ON_ONE_SPOT, LOG_DISTANCE.format(3)),
    "indoors": interference(ON_ONE_SPOT, ITU),
    "several media": interference(
        NINE, LOG_DISTANCE.format(3), more="\tmedium_array = ((0, 1, 2), (3, 4, 5), (6));\n"
    ),
    "links by SNR": by_links("snr", ["0, 1, 12", "1, 0, 12"]),
    "no links yet": by_links("snr", []),
    "links by loss": by_links("prob", ["0, 1, 0.010000", "0, 2, 0.020000", "0, 3, 1.000000"]),
}


@pytest.fixture
def cfg(tmp_path: Path) -> Path:
    return tmp_path / "mn_wmd_config.cfg"


# What the connector writes for each propagation model that a network may have. What it does not
# know it calls free space.
MODELS = {
    "ITU": ITU,
    "ITU with floors": ITU.replace("nFLOORS = 0", "nFLOORS = 2").replace("pL = 0", "pL = 30"),
    "logDistance": LOG_DISTANCE.format(2.5),
    "logNormalShadowing": 'model_name = "log_normal_shadowing";\n\tpath_loss_exp = 3.0;\n\tsL = 1;',
    "any other": 'model_name = "free_space";\n\tsL = 1;',
}
MEDIA = "\tmedium_array = ((0, 1), (2));\n"
BELOW_GROUND: list[Place] = [(-25, -40.5, 0), (12, 22, -3), (1000, -70, 120)]
REFUSED = {
    "two rays": ('model_name = "two_ray_ground";\n\tsL = 1;', "model_name: there is no model"),
    "ranging": (f"pmsr_sigma_m = 0.5;\n\t{ITU}", "pmsr_sigma_m: has no meaning here; remove it"),
}


def words(found: Options, name: str) -> set[str]:
    return {value for option, value in found if option == name}


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_of_a_model_loads(model: str, cfg: Path) -> None:
    """Fading or none, media or none, powers whole or not, nodes apart, below zero or together."""
    apart: tuple[list[Place], ...] = (THREE, BELOW_GROUND, ON_ONE_SPOT)
    for places, fading, more, power in product(apart, (0, 3), ("", MEDIA), (14, 13.5)):
        found = options(cfg, interference(places, MODELS[model], fading, more, power))
        assert found[0] == ("channel", f"snr=30,fading={fading}" if fading else "snr=30")
        assert {"iface0:iface2", "iface1:iface2"} <= words(found, "hidden") or not more
        assert links(found)


@pytest.mark.parametrize("kind", ("snr", "prob"))
def test_links_load_beside_media(kind: str, cfg: Path) -> None:
    """Other media hide radios that a link would join."""
    value = "12" if kind == "snr" else "0.100000"
    text = by_links(kind, [f"0, 1, {value}", f"0, 2, {value}"])
    found = options(cfg, text.replace("\t];\n", f"\t];\n{MEDIA}", 1))
    assert "iface0:iface2" in words(found, "hidden")
    assert any(value.startswith("iface0:iface1,") for value in words(found, "link"))


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_is_one_line(kind: str, cfg: Path) -> None:
    """Two rays need antennas' heights, which come over wmediumd's socket; no distance is measured
    here."""
    model, says = REFUSED[kind]
    cfg.write_text(interference(THREE, model))
    key = model.split(" ")[0]
    line = next(n for n, text in enumerate(cfg.read_text().splitlines(), 1) if key in text)
    assert_refused(f"dcfmedium: {cfg}:{line}: model.{says}", "wmediumd", str(cfg))


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_loads(example: str, cfg: Path) -> None:
    found = options(cfg, EXAMPLES[example])
    assert all(-30 <= snr <= 60 for snr in links(found).values())


def test_nodes_on_one_spot_hear_each_other_best(cfg: Path) -> None:
    """Their distance is 0, of which no logarithm is taken."""
    for example in ("mobility", "indoors"):
        found = links(options(cfg, EXAMPLES[example]))
        assert found[1, 2] == found[2, 1] == 60


def test_links_not_given(cfg: Path) -> None:
    """A default_prob of 1 loses everything; with SNRs it has no effect in wmediumd."""
    lossy = options(cfg, EXAMPLES["links by loss"])
    assert {"iface0:iface3", "iface1:iface2"} <= words(lossy, "hidden")
    assert {"iface0:iface1,loss=0.01", "iface1:iface0,loss=0.01"} <= words(lossy, "link")
    assert options(cfg, EXAMPLES["no links yet"]) == [("channel", "snr=30")]
