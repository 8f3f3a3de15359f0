# SPDX-License-Identifier: GPL-2.0-only
"""The compiler that a stock kernel's headers name, where the machine has another.

Principle: newer headers come with tools that need a newer C library too, so make runs with the
compiler's own suite as its root: that suite's packages, unpacked into the cache, with the
checkout and the headers mounted at their own paths in a mount namespace. Nothing is installed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels.cache import whole
from apbed.kernels.packages import Apt, cache_root

# What kbuild calls beside the compiler, and a shell; dwarves brings the library for ELF files.
PACKAGES = (
    *("base-files", "bash", "coreutils", "dash", "diffutils", "findutils", "gawk", "grep"),
    *("dwarves", "make", "perl-base", "sed"),
)
NAMED = re.compile(r"\bCROSS_COMPILE\)(gcc-\d+)")  # in .kernelvariables of Debian's headers
MOUNT = """\
for place in {places}; do
	mkdir -p {root}"$place"
	mount --rbind "$place" {root}"$place"
done
exec chroot {root} /usr/bin/env -i PATH=/usr/bin:/usr/sbin LC_ALL=C TMPDIR=/tmp {words}
"""


def named(headers: Path) -> str | None:
    """The compiler that headers were made with, as "gcc-16"; None if they do not say."""
    variables = headers / ".kernelvariables"
    match = NAMED.search(variables.read_text()) if variables.exists() else None
    return match[1] if match else None


def own(name: str | None) -> bool:
    """Whether this machine has the compiler."""
    return name is None or shutil.which(f"x86_64-linux-gnu-{name}") is not None


def _root(name: str) -> Path:
    return cache_root() / "compiler" / name


def fetch(apt: Apt, name: str) -> None:
    """Unpack a compiler with all it needs from a suite that has it."""
    final = _root(name)
    if final.exists():
        return
    final.parent.mkdir(parents=True, exist_ok=True)
    with whole(final) as directory:
        nothing = directory / "status"
        nothing.touch()
        bare = Apt(apt.name, (*apt.options, "-o", f"Dir::State::Status={nothing}"))
        plan = bare.run("apt-get", "install", "-s", "--no-install-recommends", name, *PACKAGES)
        nothing.unlink()
        # base-files first: it makes /bin a link, which others may name.
        names = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
        apt.unpack(["base-files"], directory)
        apt.unpack([one for one in names if one != "base-files"], directory)
        for link, there in (("awk", "gawk"), ("sh", "dash")):
            if not (path := directory / "usr/bin" / link).exists():
                path.symlink_to(there)


def within(name: str | None, places: Sequence[Path], words: Sequence[str]) -> list[str]:
    """`words` as a command that finds the compiler; `places` are the directories it may see.

    ApbedError if the compiler is neither the machine's nor in the cache.
    """
    if own(name):
        return list(words)
    assert name is not None
    root = _root(name)
    if not root.is_dir():
        raise ApbedError(f"no {name} here, which the headers name; run `apbed distro fetch`")
    script = MOUNT.format(
        places=shlex.join(["/proc", "/dev", *map(str, places)]),
        root=shlex.quote(str(root)),
        words=shlex.join(words),
    )
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *as_root, "sh", "-ec", script]


def run(name: str | None, places: Sequence[Path], words: Sequence[str]) -> int:
    """Run a command so; its exit status. make's own settings are not passed on."""
    environment = {key: os.environ[key] for key in os.environ if not key.startswith("MAKE")}
    environment.pop("MFLAGS", None)
    return subprocess.run(within(name, places, words), env=environment, check=False).returncode
