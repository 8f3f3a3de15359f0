# SPDX-License-Identifier: GPL-2.0-only
"""The machines a run can be carried out in: a lab kernel, a stock kernel in QEMU, or a grid.

Principle: what runs in a guest is the same; a machine only decides which kernel boots, what it
must load before the radios, and how the run's directory gets in and out.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from apbed.checkout import GUEST
from apbed.errors import ApbedError
from apbed.grid import file as grid_file
from apbed.kernels import distro, kvm, lab, qemu, ram_disk
from apbed.kernels.cache import LabKernel
from apbed.kernels.distro import DistroKernel
from apbed.kernels.watchdog import Boot, Watchdog
from apbed.run.grid_machine import GridMachine
from apbed.run.order import Order
from apbed.scenario.plan import Plan

RADIOS = "mac80211_hwsim"


Place = Callable[[Path], Path]  # where another host has a file of this one


class Machine(Protocol):
    """A kernel, and how it is booted."""

    @property
    def release(self) -> str:
        """uname -r."""

    @property
    def key(self) -> str:
        """Names the kernel and the emulation: two machines alike have the same."""

    @property
    def what(self) -> str:
        """For people: "User-mode Linux in virtual time"."""

    @property
    def modules(self) -> str:
        """The folder below build/modules with our modules for it."""

    @property
    def make(self) -> str:
        """The command that builds them."""

    @property
    def needs(self) -> tuple[Path, ...]:
        """The kernel's own modules that must be loaded first, in this order; guest's paths."""

    @property
    def hwsim(self) -> Path:
        """The radios' module; the guest's path."""

    @property
    def stall_s(self) -> float:
        """Processor seconds without progress after which a run is stuck."""

    def inside(self, path: Path) -> Path:
        """Where the guest has a file of the host."""

    def accept(self, plan: Plan) -> None:
        """ApbedError if it cannot do what a plan asks for."""

    def boot(self, order: Order, watchdog: Watchdog) -> Boot:
        """Carry out one run; results are in its directory."""


@runtime_checkable
class Movable(Machine, Protocol):
    """A machine that can be sent to another host, with its files."""

    def files(self) -> list[Path]:
        """What it needs there and not every host has."""

    def moved(self, place: Place) -> Machine:
        """The same machine with these files elsewhere."""


@dataclass(frozen=True)
class LabMachine:
    """User-mode Linux built for the lab: no root, no emulator, the fastest."""

    kernel: LabKernel
    make: str
    scripts: Path = GUEST
    seeded_random: Path = lab.SEEDED_RANDOM

    what = "User-mode Linux in virtual time"
    needs: tuple[Path, ...] = ()
    stall_s = 60.0

    @property
    def release(self) -> str:
        return self.kernel.release

    @property
    def key(self) -> str:
        return self.kernel.key

    @property
    def modules(self) -> str:
        return f"{self.release}-um"

    @property
    def hwsim(self) -> Path:
        return self.kernel.hwsim

    def inside(self, path: Path) -> Path:
        return path

    def accept(self, plan: Plan) -> None:
        """The lab can do all that a plan can say."""

    def boot(self, order: Order, watchdog: Watchdog) -> Boot:
        """The host's file system is the guest's root, so nothing is copied."""
        command = [*ram_disk.GUEST_PYTHON, str(order.script), str(order.run_dir)]
        console = order.run_dir / "console.log"
        guest = lab.Guest(
            self.kernel,
            command,
            order.run_dir,
            workdir=order.run_dir,
            seed=order.seed,
            console=console,
            scripts=self.scripts,
            seeded_random=self.seeded_random,
        )
        return lab.boot(guest, watchdog)

    def files(self) -> list[Path]:
        scripts = [path for path in sorted(self.scripts.iterdir()) if path.is_file()]
        return [self.kernel.linux, self.kernel.hwsim, self.seeded_random, *scripts]

    def moved(self, place: Place) -> LabMachine:
        kernel = replace(
            self.kernel, linux=place(self.kernel.linux), hwsim=place(self.kernel.hwsim)
        )
        return replace(
            self,
            kernel=kernel,
            scripts=place(self.scripts),
            seeded_random=place(self.seeded_random),
        )


@dataclass(frozen=True)
class StockMachine:
    """A distribution's kernel in QEMU.

    On one processor instructions are the clock. Several run at the host's speed, in its time, and
    by KVM where that works.
    """

    kernel: DistroKernel
    make: str
    cpus: int = 1
    kvm: bool = False
    own: bool = False  # given by path, so it may have the ACK-skip series

    stall_s = 240.0  # 8 s for a virtual second of 802.11n, and half a minute to boot

    @property
    def release(self) -> str:
        return self.kernel.release

    @functools.cached_property
    def key(self) -> str:
        digest = hashlib.sha256(self.kernel.bootable.read_bytes()).hexdigest()
        several = f"-{self.cpus}-processors" if self.cpus > 1 else ""
        return f"{self.release}-qemu-{digest[:12]}{several}{'-kvm' if self.kvm else ''}"

    @property
    def what(self) -> str:
        if self.cpus > 1:
            how = "by KVM" if self.kvm else "emulated, as KVM does not work here"
            return f"QEMU with {self.cpus} processors, {how}, in real time"
        return "QEMU in virtual time"

    @property
    def modules(self) -> str:
        return f"{self.release}-x86_64"

    @functools.cached_property
    def radios(self) -> tuple[Path, ...]:
        """hwsim's module, last, after those it needs."""
        found = self.kernel.with_dependencies([RADIOS]).values()
        return tuple(ram_disk.module_path(self.kernel, path) for path in found)

    @property
    def needs(self) -> tuple[Path, ...]:
        return self.radios[:-1]

    @property
    def hwsim(self) -> Path:
        return self.radios[-1]

    def inside(self, path: Path) -> Path:
        return ram_disk.inside(path)

    def accept(self, plan: Plan) -> None:
        """ApbedError if it asks for what only lab kernels have."""
        refuse_on_stock(plan, self.own)

    def boot(self, order: Order, watchdog: Watchdog) -> Boot:
        """The guest has copies of all it needs in memory; results come out at the end."""
        guest = ram_disk.RamGuest(
            self.kernel,
            order.script,
            [str(ram_disk.OUT)],
            order.files,
            [RADIOS],
            order.run_dir,
            order.seed,
            cpus=self.cpus,
            kvm=self.kvm,
        )
        return ram_disk.boot(guest, watchdog)


def refuse_on_stock(plan: Plan, own: bool) -> None:
    """ApbedError if a plan asks for what only lab kernels have. `own`: the user's kernel, which may
    have the ACK-skip series."""
    asked = ["radio = 'queues'"] if plan.queues else []
    asked += ["tcp.window_segments"] if plan.tcp.window_segments else []
    sysctls = [*plan.wired.sysctls, *plan.station.sysctls]
    asked += [name for name in sysctls if name.startswith("net.ipv4.tcp_ack_") and not own]
    if asked:
        raise ApbedError(f"{asked[0]}: only lab kernels have it; run it without --backend vng")


def _lab(version: str | None) -> Machine:
    words = f" KERNEL={version}" if version else ""
    return LabMachine(lab.kernel(version), f"make all{words}")


def _stock(version: str | None, cpus: int) -> Machine:
    emulator = qemu.find()
    kernel = distro.find(version)
    words = f" KERNEL={version}" if version else ""
    by_kvm = cpus > 1 and kvm.works(emulator, kernel.bootable)
    return StockMachine(kernel, f"make stock{words}", cpus, by_kvm, distro.is_path(version))


BACKENDS = ("uml", "vng", "ssh")


@dataclass(frozen=True)
class Backend:
    """Where runs are carried out: a word of BACKENDS, the grid file that ssh needs, and the
    processors of vng's machines.
    """

    name: str = "uml"
    grid: Path | None = None
    cpus: int = 1

    @property
    def real_time(self) -> bool:
        """Whether runs take the host's time, so that two at a time would disturb each other."""
        return self.name == "ssh" or self.cpus > 1

    def accept(self, kernel: str | None, plan: Plan) -> None:
        """ApbedError if it cannot do what a plan asks for; the kernel may not be there yet."""
        if self.grid is not None:
            self.machine(kernel).accept(plan)
        elif self.name == "vng":
            refuse_on_stock(plan, distro.is_path(kernel))

    def machine(self, kernel: str | None) -> Machine:
        """The machine of a kernel (None: the distribution's own line, or the grid's)."""
        if (self.name == "ssh") != (self.grid is not None):
            raise ApbedError("--backend ssh and --grid FILE go together")
        if self.cpus > 1 and self.name != "vng":
            raise ApbedError("--cpus: only the machines of --backend vng can have several")
        if self.grid is None:
            return _lab(kernel) if self.name == "uml" else _stock(kernel, self.cpus)
        if kernel:
            raise ApbedError(f"kernel = {kernel!r}: the grid file says which kernel its nodes run")
        return GridMachine(grid_file.load(self.grid))
