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
# tc's word -> modules, in the order they must be loaded. Only the runs that name a queue discipline
# load it: a change of ours leaves the runs of the others what they were.
MODULES_OF = {
    "inflight": ("inflight", "sch_inflight"),
    "lasack": ("inflight", "sch_lasack"),
    "ackwrr": ("inflight", "sch_ackwrr"),
}
OF_NO_RUN = ("bench.sh", "iperf.sh", "module_init.c", "probe.sh")  # among the guest's files


@dataclass(frozen=True)
class Bench:
    """The machine, programs and modules one kernel's runs use, by absolute path."""

    machine: Machine
    dcfmedium: Path
    flowgen: Path
    tc_lib_dir: Path
    modules: dict[str, Path]  # by name
    radio: Path  # the driver of radios that pull from mac80211's queues; not every kernel has it
    window: Path  # the congestion control with a bounded window; lab kernels have it

    def digests(self) -> dict[str, str]:
        """SHA-256 of everything that runs and is ours, by name."""
        scripts = [path for path in sorted(GUEST.iterdir()) if path.name not in OF_NO_RUN]
        files = [*self.files(), *scripts, PLAN, EDCA, RANDOM]
        return {file.name: _sha256(file) for file in files if file.is_file()}

    def unused(self, plan: Plan) -> set[str]:
        """The names of those of `digests` that make no difference to this plan's run."""
        words = _queues(plan)
        ours = set(self.modules) - set(_modules(words))
        plugins = {f"q_{word}.so" for word in set(MODULES_OF) - words}
        window = set() if plan.tcp.window_segments else {self.window.name}
        edca = set() if hostapd.wanted(plan.medium.edca) else {EDCA.name}
        return {f"{name}.ko" for name in ours} | plugins | window | edca

    def files(self) -> list[Path]:
        """What a guest needs besides its own programs and scripts."""
        ours = [self.dcfmedium, self.flowgen, *self.modules.values()]
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
            modules={name: place(path) for name, path in self.modules.items()},
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
        inside = self.machine.inside
        ours = [inside(self.modules[name]) for name in _modules(_queues(plan))]
        modules = [*self.machine.needs, *ours]
        return Programs(
            modules=tuple(map(str, modules)),
            hwsim=str(inside(self.radio) if self.radio.exists() else self.machine.hwsim),
            dcfmedium=str(inside(self.dcfmedium)),
            flowgen=str(inside(self.flowgen)),
            tc_lib_dir=str(inside(self.tc_lib_dir)),
            window=str(inside(self.window)) if plan.tcp.window_segments else "",
        )


def machine_of(version: str, backend: Backend) -> Machine:
    """What boots a kernel ("default": the distribution's line) of a backend."""
    return backend.machine(None if version == "default" else version)


def accept(version: str, plan: Plan, backend: Backend) -> None:
    """ApbedError if a backend cannot do what a plan asks for; its kernel may not be there yet."""
    backend.accept(None if version == "default" else version, plan)


def find(version: str, backend: Backend = LAB) -> Bench:
    """Everything needed to run on a kernel ("default": the distribution's line) of a backend."""
    machine = machine_of(version, backend)
    modules = BUILD / "modules" / machine.modules
    found = Bench(
        machine,
        BUILD / "bin" / "dcfmedium",
        BUILD / "bin" / "flowgen",
        BUILD / "tc",
        {name: modules / f"{name}.ko" for name in _modules(set(MODULES_OF))},
        BUILD / "radio" / machine.modules / "lab_radio.ko",
        BUILD / "tcp" / machine.modules / "lab_window.ko",
    )
    needed = (found.dcfmedium, found.flowgen, found.tc_lib_dir, *found.modules.values())
    for path in needed:
        if not path.exists():
            raise ApbedError(f"{path.relative_to(REPOSITORY)} is missing; run `{machine.make}`")
    return found


def _queues(plan: Plan) -> set[str]:
    """The queue disciplines of a plan, by tc's words."""
    queues = (plan.ap.qdisc, plan.ap.child, plan.ap.ack_child, plan.station.qdisc)
    words = {shlex.split(queue)[0] for queue in queues if queue}
    return words | ({"inflight"} if plan.ap.inflight or plan.station.inflight else set())


def _modules(words: set[str]) -> list[str]:
    """The modules of those queue disciplines, each once."""
    named = (name for word, names in MODULES_OF.items() if word in words for name in names)
    return list(dict.fromkeys(named))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
