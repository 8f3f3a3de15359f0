# SPDX-License-Identifier: GPL-2.0-only
"""Kernels with several processors and a checker, in an emulated machine.

Principle: one processor shows no race between two. User-mode Linux has one, so this is the
lab's source built for x86_64, booted as a distribution's kernel is (shared_root.py): KASAN and
lockdep look for use after free and wrong locking, KCSAN for data races
(Documentation/dev-tools/kasan.rst and kcsan.rst of the kernel).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from apbed.errors import ApbedError
from apbed.kernels import cache, distro, shared_root
from apbed.kernels.cache import LabKernel
from apbed.kernels.recipe import Recipe

CHECKERS = ("kasan", "kcsan")


def recipe(checker: str) -> Recipe:
    """What the kernel with this checker is made from."""
    if checker not in CHECKERS:
        raise ApbedError(f"unknown checker {checker}: choose one of {', '.join(CHECKERS)}")
    # Without the series: the modules are what is tested, and a change of it builds nothing anew.
    return Recipe(cache.default_version(), arch="x86_64", stock=True, checker=checker)


def build(checker: str) -> LabKernel:
    """The kernel, built now unless it is in the cache."""
    return cache.build_recipe(recipe(checker))


def find(checker: str) -> LabKernel:
    """The kernel in the cache; ApbedError with the command that builds it."""
    found = cache.find_built(recipe(checker))
    if found is None:
        raise ApbedError(f"no kernel with {checker} yet; run `apbed smp build {checker}`")
    return found


def boot(checker: str, command: Sequence[str], cpus: int, limit_s: float) -> int:
    """Run a command as root in the kernel; its exit status. Limits as in shared_root.boot()."""
    kernel = find(checker)
    machine = replace(distro.find(), release=kernel.release, image=kernel.linux)
    return shared_root.boot(machine, command, cpus, limit_s)
