# SPDX-License-Identifier: GPL-2.0-only
"""mininet-wifi's own examples: the files that it would write for them load in dcfmedium.

Each row is a kind of example: where its nodes are, and its mode. What the file says is in the
notation of mininet-wifi's wmediumd connector (tests/medium/test_wmediumd.py tests its models).
"""

from __future__ import annotations

from collections.abc import Sequence
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


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_loads(example: str, cfg: Path) -> None:
    found = options(cfg, EXAMPLES[example])
    assert all(-30 <= snr <= 60 for snr in links(found).values())


def words(found: Options, name: str) -> set[str]:
    return {value for option, value in found if option == name}


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


def test_two_rays_are_refused(cfg: Path) -> None:
    """It needs antennas' heights, which mininet-wifi sends over wmediumd's socket."""
    cfg.write_text(interference(THREE, 'model_name = "two_ray_ground";\n\tsL = 1;'))
    says = 'model.model_name: there is no model "two_ray_ground"'
    line = next(n for n, text in enumerate(cfg.read_text().splitlines(), 1) if "two_ray" in text)
    assert_refused(f"dcfmedium: {cfg}:{line}: {says}", "wmediumd", str(cfg))
