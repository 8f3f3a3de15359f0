# SPDX-License-Identifier: GPL-2.0-only
"""What the tests that boot a lab kernel share."""

from __future__ import annotations

import pytest

from apbed.kernels import cache
from apbed.kernels.cache import LabKernel


@pytest.fixture(scope="session")
def lab_kernel() -> LabKernel:
    """The default lab kernel; these tests fail, not skip, without it: `make check` builds it."""
    kernel = cache.find()
    assert kernel is not None, "no lab kernel; run `apbed kernel build`"
    return kernel
