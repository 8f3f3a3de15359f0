# SPDX-License-Identifier: GPL-2.0-only
"""The radio driver is another one on each kernel line: its own mac80211_hwsim with our patch."""

from __future__ import annotations

import pytest

from apbed.kernels import cache
from apbed.kernels.packages import VERSIONS

DEFAULT = cache.default_version()
OTHERS = [line for line in VERSIONS if line != DEFAULT]


@pytest.fixture(
    scope="module",
    params=[DEFAULT, *(pytest.param(line, marks=pytest.mark.slow) for line in OTHERS)],
)
def line(request: pytest.FixtureRequest) -> str:
    """The setting that runs a scenario in the lab kernel of one line; the default's is quick."""
    return f"kernel={request.param}"
