# SPDX-License-Identifier: GPL-2.0-only
"""The exit status of a command in an emulated machine, as its console tells it."""

from __future__ import annotations

import subprocess

import pytest

from apbed.errors import ApbedError
from apbed.kernels import shared_root


def status_of(console: str) -> int:
    """The status that is read from a machine whose console says this."""
    words = ["printf", "%b", console]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        return shared_root._follow(process, limit_s=60)


@pytest.mark.parametrize(
    "line", ["{} 3\\n", "{} 3[   99.5] reboot: Restarting system\\n", "{} 3"], ids=str
)
def test_a_message_of_the_kernel_may_run_into_the_status(line: str) -> None:
    assert status_of("hello\\n" + line.format(shared_root.STATUS)) == 3


def test_a_machine_that_ends_early_has_no_status() -> None:
    with pytest.raises(ApbedError, match="without a result"):
        status_of("hello\\n")
