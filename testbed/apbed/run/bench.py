# SPDX-License-Identifier: GPL-2.0-only
"""What runs are carried out with: a machine, our modules and the programs, all built before."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path

from apbed.checkout import BUILD, GUEST, PACKAGE, REPOSITORY
from apbed.errors import ApbedError
from apbed.run.machines import Backend, Machine, Movable, Place
from apbed.scenario import hostapd
from apbed.scenario.plan import Plan, Programs

PLAN = PACKAGE / "scenario" / "plan.py"  # the guest reads plans with it
EDCA = PACKAGE / "scenario" / "hostapd.py"  # and, of runs with hostapd's EDCA, its defaults
RANDOM = REPOSITORY / "testbed" / "kernel" / "seeded_random.c"  # what the guest's kernel draws
LAB = Backend()
MODULES = ("inflight", "sch_inflight", "sch_lasack")  # in the order they must be loaded
# Loaded only by the runs that name them: each insmod is a process, which draws random numbers.
MODULES_OF = {"ackwrr": "sch_ackwrr"}  # tc's word -> module


@dataclass(frozen=True)
class Bench:
    """The machine, programs and modules one kernel's runs use, by absolute path."""

    machine: Machine
    dcfmedium: Path
    flowgen: Path
    tc_lib_dir: Path
    modules: tuple[Path, ...]
    modules_of: dict[str, Path]  # tc's word -> module to load beside these
    radio: Path  # the driver of radios that pull from mac80211's queues; not every kernel has it
    window: Path  # the congestion control with a bounded window; lab kernels have it

    def digests(self) -> dict[str, str]:
        """SHA-256 of everything that runs and is ours, by name."""
        files = [*self.files(), *sorted(GUEST.iterdir()), PLAN, RANDOM]
        return {file.name: _sha256(file) for file in files if file.is_file()}

    def digests_of(self, plan: Plan) -> dict[str, str]:
        """Of what else this plan's guest reads of ours."""
        return {EDCA.name: _sha256(EDCA)} if hostapd.wanted(plan.medium.edca) else {}

    def files(self) -> list[Path]:
        """What a guest needs besides its own programs and scripts."""
        ours = [self.dcfmedium, self.flowgen, *self.modules, *self.modules_of.values()]
        ours += [path for path in (self.radio, self.window) if path.exists()]
        return ours + sorted(self.tc_lib_dir.glob("q_*.so"))

    def sent(self) -> list[Path]:
        """What another host needs to carry out runs with it; ApbedError if none can."""
        if not isinstance(self.machine, Movable):
            raise ApbedError(
                f"{self.machine.what} stays on this host: leave out --executor, or --backend"
            )
        return [*self.files(), *self.machine.files()]

    def moved(self, place: Place) -> Bench:
        """The same with the files of `sent` in other places."""
        assert isinstance(self.machine, Movable)
        return Bench(
            self.machine.moved(place),
            dcfmedium=place(self.dcfmedium),
            flowgen=place(self.flowgen),
            tc_lib_dir=place(self.tc_lib_dir),
            modules=tuple(map(place, self.modules)),
            modules_of={word: place(path) for word, path in self.modules_of.items()},
            radio=place(self.radio),
            window=place(self.window),
        )

    def programs(self, plan: Plan) -> Programs:
        """What this plan needs of it; ApbedError if it lacks the plan's radio or window.

        Where we have a radio of our own, it is used also without queues: the kernel's would tell
        the rates that mac80211 chose, and not those at which the medium sent.
        """
        if plan.queues and not self.radio.exists():
            raise ApbedError(
                f"radio = 'queues': {self.radio.relative_to(REPOSITORY)} is missing; lab kernels "
                "have it, after `make all`"
            )
        if plan.tcp.window_segments and not self.window.exists():
            raise ApbedError(
                f"tcp.window_segments: {self.window.relative_to(REPOSITORY)} is missing; only lab "
                "kernels have it, after `make all`"
            )
        queues = (plan.ap.qdisc, plan.ap.child, plan.station.qdisc)
        words = [word for queue in queues for word in shlex.split(queue)]
        named = [self.modules_of[word] for word in MODULES_OF if word in words]
        inside = self.machine.inside
        modules = [*self.machine.needs, *map(inside, [*self.modules, *named])]
        return Programs(
            modules=tuple(map(str, modules)),
            hwsim=str(inside(self.radio) if self.radio.exists() else self.machine.hwsim),
            dcfmedium=str(inside(self.dcfmedium)),
            flowgen=str(inside(self.flowgen)),
            tc_lib_dir=str(inside(self.tc_lib_dir)),
            window=str(inside(self.window)) if plan.tcp.window_segments else "",
        )


def find(version: str, backend: Backend = LAB) -> Bench:
    """Everything needed to run on a kernel ("default": the distribution's line) of a backend."""
    machine = backend.machine(None if version == "default" else version)
    modules = BUILD / "modules" / machine.modules
    found = Bench(
        machine,
        BUILD / "bin" / "dcfmedium",
        BUILD / "bin" / "flowgen",
        BUILD / "tc",
        tuple(modules / f"{name}.ko" for name in MODULES),
        {word: modules / f"{name}.ko" for word, name in MODULES_OF.items()},
        BUILD / "radio" / machine.modules / "lab_radio.ko",
        BUILD / "tcp" / machine.modules / "lab_window.ko",
    )
    needed = (*found.modules, *found.modules_of.values())
    for path in (found.dcfmedium, found.flowgen, found.tc_lib_dir, *needed):
        if not path.exists():
            raise ApbedError(f"{path.relative_to(REPOSITORY)} is missing; run `{machine.make}`")
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
