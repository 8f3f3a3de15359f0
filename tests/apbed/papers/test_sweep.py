# SPDX-License-Identifier: GPL-2.0-only
"""Which points a scenario has, and what its runs are called."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.scenario import parse, sweep
from tests.apbed.scenario.test_scenario import CELL, load

ZIP = 'zip = [["station.window", "wired.window"]]'


def zipped(tmp_path: Path, *settings: str, words: str = ZIP) -> list[parse.Run]:
    return load(tmp_path, CELL.replace("[ap]", f"[sweep]\n{words}\n[ap]"), *settings).runs


def test_zipped_keys_go_in_step(tmp_path: Path) -> None:
    """Two windows in step times two seeds: four runs, not eight."""
    pair = ("station.window=[1000, 2000]", "wired.window=[3000, 4000]")
    runs = zipped(tmp_path, *pair, "seed=[1, 2]")
    found = [(run.plan.station.window, run.plan.wired.window, run.plan.seed) for run in runs]
    assert sorted(found) == [(1000, 3000, 1), (1000, 3000, 2), (2000, 4000, 1), (2000, 4000, 2)]
    assert len({run.id for run in runs}) == 4
    alone = zipped(tmp_path, pair[0])
    assert [(run.plan.station.window, run.plan.wired.window) for run in alone] == [
        (1000, 0),
        (2000, 0),
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (ZIP, "sweep.zip: expected as many values of each; there are: station.window 2, wired"),
        ('zip = ["seed"]', "sweep.zip: expected lists of keys"),
        ('zip = [["seed", "sead"]]', "unknown key 'sead'; did you mean 'seed'?"),
        ('zap = [["seed", "kernel"]]', "unknown key 'zap'; did you mean 'zip'?"),
        (f'{ZIP[:-1]}, ["wired.window", "seed"]]', "sweep.zip: wired.window is there twice"),
    ],
)
def test_what_cannot_be_zipped_is_one_line(tmp_path: Path, words: str, line: str) -> None:
    settings = ("station.window=[1, 2]", "wired.window=[1, 2, 3]")
    with pytest.raises(ApbedError) as refused:
        zipped(tmp_path, *settings, words=words)
    assert str(refused.value).startswith(f"cell.toml: {line}")


def test_ids_never_grow_too_long() -> None:
    """A directory's name has at most NAME_MAX bytes. What differs at the end stays apart."""
    words = "ap,access=aap " + " ".join(f"sta{n},access=idle-sense" for n in range(1, 51))
    ids = [
        sweep.run_id({"qdisc": "fq_codel", "seed": 7, "medium.stations": words + end}, [key])
        for end in ("", ",rate=1")
        for key in ("medium.stations",)
    ]
    assert len(set(ids)) == 2
    for name in ids:
        assert len(name) <= sweep.ID_MAX < os.pathconf("/", "PC_NAME_MAX")
        assert re.fullmatch(r"fq-codel_medium.stations-ap-access-aap-.*_[0-9a-f]{10}_seed-7", name)
    assert sweep.run_id({"qdisc": "fq_codel", "seed": 7}, ["seed"]) == "fq-codel_seed-7"
