# SPDX-License-Identifier: GPL-2.0-only
"""Links lead somewhere, commands exist, words are the glossary's.

Every `apbed run` line of a page is planned as apbed itself would, so a scenario, a key or a value
that does not exist fails here.
"""

from __future__ import annotations

import argparse
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from apbed import cli
from apbed.scenario import catalogue, parse
from tests.documentation.pages import (
    COMMIT,
    GAP,
    TOP,
    anchors,
    commands,
    history,
    lines,
    links,
    pages,
    prose,
    tracked,
)

MEASUREMENTS = TOP / "Documentation" / "measurements"
GLOSSARY = TOP / "Documentation" / "glossary.md"
PAPERS = TOP / "Documentation" / "papers.md"
# Spelled apart, so that this file has none of them.
FORBIDDEN = {
    "a paper's number instead of its short name": re.compile("paper" + r"s?[ _]?0\d", re.I),
    "a word for what was never part of the project": re.compile("throw" + "away", re.I),
    "a document that is not in the project": re.compile(
        r"\b(" + "DES" + r"IGN\b|" + "REV" + r"IEW\.md|" + "FAC" + r"TS\.md)"
    ),
    "a path of somebody's machine": re.compile("/wo" + r"rk/(shared|team|main|w)/"),
}
VERBATIM = {"COPYING"}  # not the project's words
PROSE_LINE, TABLE_LINE, HEADING_LINE = 120, 400, 80
# Commits that pages name though the history lacks them; the measurements' README says so, too.
LOST = {"16caac0", "19a9123", "257b7e9", "b803960", "bced44b", "c40fc2c", "ec727bd"}
ABBREVIATION = re.compile(r"(?<![\w.-])[A-Z][A-Za-z]*[A-Z]+[a-z]?\b(?!-\d)")
OPTIONAL = re.compile(r"\s\[[^\]]*\](\.\.\.)?")
NAMES = [str(page.relative_to(TOP)) for page in pages()]
COMMON = {"AP", "IP", "TCP", "UDP", "ICMP", "IPv", "ARP", "DNS", "HTTP", "QUIC", "NAT", "VLAN"}
ORDINARY = {"CPU", "RAM", "TOML", "JSON", "HTML", "PNG", "GPL", "RFC", "IEEE", "ACM", "OK", "MHz"}
ORDINARY |= {
    "KB",
    "KiB",
    "MiB",
    "MB",
    "GB",
    "III",
    "IV",
    "VI",
    "INFOCOM",
    "SIGCOMM",
    "ICDE",
    "COPYING",
}


def usage_words(command: str) -> list[str]:
    """The words of a command, up to a pipe; optional parts of a synopsis are left out."""
    words = shlex.split(OPTIONAL.sub("", command), comments=True)
    return list(takewhile(lambda word: word != "|", words))


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link names a file of the project, and its anchor a heading of it."""
    page = TOP / name
    broken = []
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    assert not broken


@pytest.mark.parametrize("name", NAMES)
def test_apbed_commands_exist(name: str) -> None:
    """Every `apbed` line is one that apbed accepts; of a run, also the scenario and its values."""
    for number, command in commands(TOP / name):
        for part in command.split(" && "):
            words = usage_words(part)
            if words and words[0].removeprefix(".venv/bin/") == "apbed":
                _accepted(words[1:], f"{name}:{number}: {part}")


def _accepted(words: list[str], where: str) -> None:
    try:
        args = cli.parser().parse_args(words)
    except (SystemExit, argparse.ArgumentError):
        pytest.fail(f"{where}: apbed does not know this")
    if words[0] != "run" or args.scenario.startswith("out/"):
        return  # a page makes such a file itself: test_guides.py follows it
    if args.scenario.islower():
        parse.load(catalogue.find(args.scenario), args.set)


def parsers(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A command's parser and those of its sub-commands."""
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


def test_examples_of_help_exist() -> None:
    """What `--help` gives as an example is accepted, like a page's."""
    for parser in parsers(cli.parser()):
        for line in (parser.epilog or "").splitlines():
            command = GAP.split(line.strip())[0]
            if command.startswith("apbed "):
                _accepted(usage_words(command)[1:], command)


def make_targets() -> set[str]:
    """The targets that `make help` lists."""
    return set(re.findall(r"^([a-z-]+):.*##", (TOP / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_exist(name: str) -> None:
    """`make X`, in code or between backquotes, is a target, and `make -C DIR` finds a Makefile."""
    code = [command for _, command in commands(TOP / name)]
    code += re.findall(r"`([^`\n]+)`", (TOP / name).read_text())
    for command in code:
        for part in command.split(" && "):
            match part.removeprefix("sudo ").split():
                case ["make", "-C", folder, *_]:
                    assert (TOP / folder / "Makefile").is_file(), part
                case ["make", target, *_] if "=" not in target:
                    assert target in make_targets(), part


@pytest.mark.parametrize("name", NAMES)
def test_programs_exist(name: str) -> None:
    """A script that a page tells to run, or a file that it names in full, is in the project."""
    rooms = {path.relative_to(TOP).parts[0] for path in tracked()}
    built = re.compile(r"^(build|out|\.venv)/")
    for word in re.findall(
        r"(?<![\w./-])((?:[\w.-]+/)+[\w.-]+\.(?:py|sh|toml|c|h|md))\b", text(name)
    ):
        if word.split("/")[0] in rooms and not built.match(word):
            assert (TOP / word).exists(), word


def text(name: str) -> str:
    """A page as it is."""
    return (TOP / name).read_text()


@pytest.mark.parametrize("why", FORBIDDEN)
def test_no_forbidden_words(why: str) -> None:
    """No file has a word that only those could read who made the project."""
    found = []
    for path in tracked():
        if path.name in VERBATIM or path.suffix == ".png":
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if FORBIDDEN[why].search(line):
                found.append(f"{path.relative_to(TOP)}:{number}: {line.strip()[:80]}")
    assert not found, why


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_short(name: str) -> None:
    """Lines fit a screen; a row of a table may be as long as two."""
    for number, line in enumerate(text(name).splitlines(), 1):
        limit = TABLE_LINE if line.startswith("|") else PROSE_LINE
        if not line.startswith("    "):
            assert len(line) <= limit, f"line {number}: {len(line)} characters"


@pytest.mark.parametrize("name", NAMES)
def test_headings_are_short(name: str) -> None:
    """A heading that is longer has swallowed its paragraph."""
    for number, line, code in lines(TOP / name):
        if line.startswith("#") and not code:
            assert len(line) <= HEADING_LINE, f"line {number}: {len(line)} characters"


def glossary_words() -> set[str]:
    """Every word in the first column of the glossary's tables."""
    cells = re.findall(r"^\| ([^|]+) \|", GLOSSARY.read_text(), re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"[\w*-]+", cell.replace("/", " "))}


EXPLAINED = ["README.md", *(name for name in NAMES if "reference/" in name)]


@pytest.mark.parametrize("name", EXPLAINED)
def test_abbreviations_are_explained(name: str) -> None:
    """Each abbreviation in the prose of README and the reference pages is in the glossary."""
    known = glossary_words() | COMMON | ORDINARY
    used = set(ABBREVIATION.findall(prose(TOP / name)))
    unknown = {word for word in used if word not in known and word.rstrip("s") not in known}
    assert not unknown


# What commands.toml runs of the tree's own, once that is built.
PROGRAMS_OF_THE_TREE = (".venv/bin/apbed", ".venv/bin/python", "build/bin/dcfmedium")


def measured() -> list[dict[str, object]]:
    """The entries of commands.toml."""
    table = tomllib.loads((MEASUREMENTS / "commands.toml").read_text())
    assert table["schema"] == 1
    entries: list[dict[str, object]] = table["measurement"]
    return entries


def test_measurements_are_listed() -> None:
    """README of the measurements names each page and each entry of commands.toml."""
    index = text("Documentation/measurements/README.md")
    for page in MEASUREMENTS.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name
    for entry in measured():
        assert f"`{entry['name']}`" in index, entry["name"]


@pytest.mark.parametrize("entry", measured(), ids=lambda entry: str(entry["name"]))
def test_measurements_can_be_repeated(entry: dict[str, object]) -> None:
    """Its page and pictures exist, and apbed accepts its commands."""
    assert (MEASUREMENTS / str(entry["page"])).is_file()
    commands = entry["commands"]
    assert isinstance(commands, list)
    for command in commands:
        words = shlex.split(command.replace("{out}", "out/x"))
        # Without a shell: only programs can be run, and nothing but {out} is replaced.
        assert words[0] in ("make", *PROGRAMS_OF_THE_TREE) and "$" not in command, command
        if words[0] == ".venv/bin/apbed":
            _accepted(words[1:], command)
    pictures = entry.get("pictures", {})
    assert isinstance(pictures, dict)
    for picture in pictures.values():
        assert (MEASUREMENTS / picture).exists()


@pytest.fixture(scope="module")
def commits() -> tuple[str, ...]:
    """The history's commits."""
    found = history()
    if not found:
        pytest.skip("needs the whole history: this is no git checkout, or a shallow one")
    return found


def in_history(word: str, commits: tuple[str, ...]) -> bool:
    """Whether a commit's hash begins so."""
    return any(commit.startswith(word) for commit in commits)


@pytest.mark.parametrize("name", NAMES)
def test_commits_are_in_the_history(name: str, commits: tuple[str, ...]) -> None:
    """Or in the list of those that were lost."""
    named = set(COMMIT.findall(text(name)))
    assert {word for word in named - LOST if not in_history(word, commits)} == set()


def test_lost_commits_are_told(commits: tuple[str, ...]) -> None:
    """Each is on a page and not in the history, and README of the measurements says where what it
    had is."""
    assert {word for word in LOST if in_history(word, commits)} == set()
    index = "Documentation/measurements/README.md"
    elsewhere = {word for name in NAMES if name != index for word in COMMIT.findall(text(name))}
    assert elsewhere >= LOST
    (told,) = re.findall(r"Some commits are not in this history.*?\n\n", text(index), re.DOTALL)
    assert {word for word in COMMIT.findall(told) if not in_history(word, commits)} == LOST


FIGURES = [
    name
    for name in NAMES
    if Path(name).parent.name in ("measurements", "papers") and Path(name).name != "README.md"
]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_name_their_commit(name: str, commits: tuple[str, ...]) -> None:
    """A page with figures says of which commit they are, and how they were made."""
    found = COMMIT.findall(text(name))
    assert any(word in LOST or in_history(word, commits) for word in found), "no commit"
    assert any(True for _ in commands(TOP / name)) or "`make " in text(name), "no command"


STANDARDS = {"RFC", "IEEE", "ITU-T"}
PROGRAMS = {"flent"}  # whose tests a scenario repeats


def test_sources_are_known_papers() -> None:
    """What a scenario gives as its source is a short name of papers.md, a standard or a program."""
    short = set(re.findall(r"^\| ([a-z0-9-]+-[a-z0-9-]+) \|", PAPERS.read_text(), re.MULTILINE))
    assert len(short) == 5
    expected = short | STANDARDS | PROGRAMS
    for path in catalogue.files():
        source = tomllib.loads(path.read_text())["source"]
        for part in source.split("; "):
            assert part.split(",")[0].split(" ")[0] in expected, f"{path.name}: {part}"
