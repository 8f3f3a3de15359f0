# SPDX-License-Identifier: GPL-2.0-only
"""Kernel packages of the distribution, fetched without changing the system.

Principle: apt keeps everything it knows below directories that options name,
so a private set of them, with a sources file derived from the machine's own
by changing the suite, downloads any suite's package as an ordinary user
(apt.conf(5), "THE DIR SECTION"; sources.list(5)). No host name is written
here: the mirror is the one the machine already uses.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError

# Suites that carry each kernel line, the likeliest to suit an older system
# first; the machine's own apt is always asked before any of them.
SUITES = {
    "6.1": ("bookworm",),
    "6.12": ("bookworm-backports", "trixie"),
    "7.2": ("trixie-backports", "forky", "sid"),
}
VERSIONS = tuple(SUITES)
# The kernel line a release of the distribution ships as its own.
NATIVE = {"bookworm": "6.1", "trixie": "6.12", "forky": "7.2", "sid": "7.2"}

SOURCES_DIR = Path("/etc/apt")


@dataclass(frozen=True)
class Source:
    """A linux-source package: its version and the archive it holds."""

    package_version: str
    archive: Path  # .tar.xz, or the .deb around one


@dataclass(frozen=True)
class Apt:
    """One view of apt: the machine's own (no options) or a private suite."""

    name: str
    options: tuple[str, ...] = ()

    def run(self, command: str, *arguments: str, cwd: Path | None = None) -> str:
        """Output of one apt command; ApbedError with apt's own last line if it fails."""
        result = subprocess.run(
            [command, *self.options, *arguments],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        if result.returncode:
            lines = result.stderr.strip().splitlines() or ["no message"]
            raise ApbedError(f"{command} ({self.name}): {lines[-1]}")
        return result.stdout

    def candidate(self, package: str) -> str | None:
        """Version that would be installed, or None if the package is not here."""
        policy = self.run("apt-cache", "policy", package)
        match = re.search(r"Candidate: (\S+)", policy)
        return match[1] if match and match[1] != "(none)" else None

    def download(self, package: str, directory: Path) -> Path:
        """Fetch a package's .deb into `directory`, or reuse the one there."""
        uris = self.run("apt-get", "--print-uris", "download", package)
        match = re.match(r"'[^']*' (\S+)", uris)
        if not match:
            raise ApbedError(f"apt ({self.name}) does not offer {package}")
        deb = directory / match[1]
        if not deb.exists():
            # Into a directory of its own: an interrupted download must not
            # be taken for a whole one, and root's apt changes user for it.
            partial = directory / "partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            self.run("apt-get", "-o", "APT::Sandbox::User=", "download", package, cwd=partial)
            (partial / deb.name).rename(deb)
        return deb

    def lacking(self, *packages: str) -> list[str]:
        """These packages and what they depend on, less what the machine has."""
        plan = self.run("apt-get", "install", "-s", "--no-install-recommends", *packages)
        return re.findall(r"^Inst (\S+)", plan, re.MULTILINE)

    def unpack(self, names: Sequence[str], root: Path) -> None:
        """Download packages and unpack them below `root`, which is made if need be."""
        root.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="packages-", dir=root.parent) as store:
            if names:  # root's apt would change user for it
                words = ("-o", "APT::Sandbox::User=", "download", *names)
                self.run("apt-get", *words, cwd=Path(store))
            for archive in sorted(Path(store).glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", str(archive), str(root)], check=True)


def cache_root() -> Path:
    """Where kernels, packages and apt's private state live: outside the tree."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lasack"


def codename(os_release: Path = Path("/etc/os-release")) -> str:
    """The distribution release's code name, "" if it has none."""
    match = re.search(r'^VERSION_CODENAME="?(\w+)', os_release.read_text(), re.MULTILINE)
    return match[1] if match else ""


def _stanzas(sources_dir: Path) -> Iterator[str]:
    """Every source entry of the machine as a deb822 stanza, in apt's order."""
    lists = [sources_dir / "sources.list", *sorted(sources_dir.glob("sources.list.d/*.list"))]
    for path in lists:
        for line in path.read_text().splitlines() if path.exists() else ():
            match = re.match(r"deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+(\S.*)", line)
            if match:
                options, uri, suite, components = match.groups()
                fields = dict(item.split("=", 1) for item in (options or "").split())
                signed = f"Signed-By: {fields['signed-by']}\n" if "signed-by" in fields else ""
                yield (
                    f"Types: deb\nURIs: {uri}\nSuites: {suite}\n"
                    f"Components: {components.split('#')[0].strip()}\n{signed}"
                )
    for path in sorted(sources_dir.glob("sources.list.d/*.sources")):
        text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE)
        for stanza in re.split(r"\n\s*\n", text):
            if not re.search(r"^Enabled:\s*no", stanza, re.MULTILINE | re.IGNORECASE):
                yield stanza.strip() + "\n"


def suite_sources(suite: str, own_suite: str, sources_dir: Path = SOURCES_DIR) -> str:
    """The machine's own Debian entry with another suite, as a .sources stanza.

    `own_suite` is the machine's code name: its entry is the one to copy.
    Raises ApbedError if there is none.
    """
    for stanza in _stanzas(sources_dir):
        match = re.search(r"^Suites:[ \t]*(.*)$", stanza, re.MULTILINE | re.IGNORECASE)
        if match and own_suite in match[1].split():
            copy = stanza[: match.start()] + f"Suites: {suite}" + stanza[match.end() :]
            return re.sub(r"^Types:.*$", "Types: deb", copy, flags=re.MULTILINE | re.IGNORECASE)
    raise ApbedError(
        f"no apt source for suite {own_suite or '(unknown)'} in {sources_dir}: "
        "install the linux-source package by hand"
    )


def private_apt(suite: str, architecture: str | None = None) -> Apt:
    """A view of another suite, or processor, with its own state; updates its package lists."""
    name = f"{suite}-{architecture}" if architecture else suite
    state = cache_root() / "apt" / name
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    sources = state / "suite.sources"
    sources.write_text(suite_sources(suite, codename()))
    settings = {
        "Dir::State::Lists": state / "lists",
        "Dir::Cache": state / "cache",
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "-",
        "Dir::Etc::PreferencesParts": "-",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
    }
    if architecture:
        settings |= {"APT::Architecture": architecture, "APT::Architectures": architecture}
    options = [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]
    apt = Apt(name, tuple(options))
    apt.run("apt-get", "update", "-q")
    return apt


def _views(version: str) -> Iterator[Apt]:
    """The machine's own apt, then each suite that carries this kernel line."""
    if not shutil.which("apt-get"):
        raise ApbedError("no apt here: lab kernels are built from Debian's linux-source packages")
    yield Apt("this system")
    for suite in SUITES[version]:
        yield private_apt(suite)


def kept(version: str, package_version: str) -> Source | None:
    """The linux-source package of a line and version that was downloaded before, or None."""
    name = f"linux-source-{version}_{package_version.replace(':', '%3a')}_all.deb"
    archive = cache_root() / "packages" / name
    return Source(package_version, archive) if archive.exists() else None


def locate(version: str) -> Source:
    """The linux-source package of a kernel line, downloaded if need be."""
    package = f"linux-source-{version}"
    installed = Path(f"/usr/src/{package}.tar.xz")
    if installed.exists():
        query = ["dpkg-query", "-W", "-f", "${Version}", package]
        return Source(subprocess.run(query, capture_output=True, text=True).stdout, installed)
    problem = f"no suite offers {package}"
    for apt in _views(version):
        try:
            package_version = apt.candidate(package)
            if package_version:
                return Source(package_version, apt.download(package, cache_root() / "packages"))
        except ApbedError as error:
            problem = str(error)  # stale lists: the next view may still have it
    raise ApbedError(f"cannot fetch the kernel source: {problem}")
