# SPDX-License-Identifier: GPL-2.0-only
"""The rules of the floor plan: each returns what breaks it, one line for each breach.

A C module is x.c with its x.h; it uses the modules whose headers, or sources, either includes.
A Python module is a file; it uses what it imports, anywhere in the file.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path, PurePosixPath

MAX_LINES = 500
MAX_MODULES = 20
SOURCES = {".c", ".h", ".py", ".sh", ".bash"}
# Bytes of captured packets in C's notation: data, however long.
DATA = {"kernel/common/tests/captured_packets.h"}
PRODUCTS = {"build", "out", "__pycache__"}
GENERATED = re.compile(r"\.mod\.c$")

CORE = "testbed/medium/core/"
# Of ISO C. POSIX, Linux and netlink are the front ends' business.
C_HEADERS = {
    *("assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h"),
    *("stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Directories from which Python modules are imported by their dotted names.
IMPORT_ROOTS = ("testbed/", "")

Graph = dict[str, set[str]]


def sources(root: Path) -> list[str]:
    """Source files below `root`, as paths relative to it; products and hidden folders left out."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in PRODUCTS and not f.startswith(".")]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in files]
    return sorted(
        path for path in found if Path(path).suffix in SOURCES and not GENERATED.search(path)
    )


def circles(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The circles of a graph, "a -> b -> a", one for each edge that closes one."""
    found: list[str] = []
    done: set[str] = set()

    def follow(node: str, path: list[str]) -> None:
        if node in path:
            found.append(" -> ".join([*path[path.index(node) :], node]))
        elif node not in done:
            for other in sorted(graph.get(node, ())):
                follow(other, [*path, node])
            done.add(node)

    for node in sorted(graph):
        follow(node, [])
    return found


def _shared(a: str, b: str) -> int:
    """How many leading folders two paths have in common."""
    pairs = zip(PurePosixPath(a).parts, PurePosixPath(b).parts, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _included(path: str, name: str, files: Iterable[str]) -> str | None:
    """The file that `path` means by a quoted `name`: beside it, or the nearest so named."""
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    beside = "/".join(parts)
    if beside in files:
        return beside
    named = [file for file in files if f"/{file}".endswith(f"/{name}")]
    return max(named, key=lambda file: _shared(path, file), default=None)


def includes(root: Path) -> Graph:
    """For each C file, the project's files it includes with quotes."""
    files = {path for path in sources(root) if path.endswith((".c", ".h"))}
    graph: Graph = {}
    for path in files:
        text = (root / path).read_text()
        names = [name for mark, name in INCLUDE.findall(text) if mark == '"']
        graph[path] = {file for name in names if (file := _included(path, name, files))}
    return graph


def c_circles(root: Path) -> list[str]:
    """No include circle among C modules."""
    graph: Graph = {}
    for path, others in includes(root).items():
        module = path[:-2]
        graph.setdefault(module, set()).update(o[:-2] for o in others if o[:-2] != module)
    return circles(graph)


def medium_core(root: Path) -> list[str]:
    """The medium's core includes itself and ISO C alone: no kernel, netlink or POSIX header."""
    files, breaches = includes(root), []
    for path in sorted(path for path in files if path.startswith(CORE)):
        breaches += [
            f"{path} includes <{name}>"
            for mark, name in INCLUDE.findall((root / path).read_text())
            if mark == "<" and name not in C_HEADERS
        ]
        breaches += [f"{path} includes {o}" for o in sorted(files[path]) if not o.startswith(CORE)]
    return breaches


def long_files(root: Path) -> list[str]:
    """No source file over 500 lines, data apart."""
    counted = [
        (path, len((root / path).read_text().splitlines()))
        for path in sources(root)
        if path not in DATA
    ]
    return [f"{path} has {lines} lines" for path, lines in counted if lines > MAX_LINES]


def large_folders(root: Path) -> list[str]:
    """No folder of more than 20 modules; __init__.py is part of the folder."""
    modules: Graph = {}
    for path in map(PurePosixPath, sources(root)):
        name = path.stem if path.suffix in (".c", ".h") else path.name
        if name != "__init__.py":
            modules.setdefault(str(path.parent), set()).add(name)
    return [f"{f} has {len(m)} modules" for f, m in sorted(modules.items()) if len(m) > MAX_MODULES]


def _name(path: str) -> str:
    """A Python file's dotted name: from its import root if it is in a package, else its stem."""
    for base in IMPORT_ROOTS:
        if path.startswith(base):
            dotted = path[len(base) :].removesuffix(".py").removesuffix("/__init__")
            return dotted.replace("/", ".")
    raise AssertionError(path)


def _imported(tree: ast.Module, package: str) -> Iterator[str]:
    """Dotted names that a module of `package` imports; of `from a import b` both a.b and a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*up, base] if base else up)
            for alias in node.names:
                yield f"{base}.{alias.name}"


def imports(root: Path) -> Graph:
    """For each Python module of the project, by dotted name, those it imports.

    A script outside the packages imports what lies beside it, or a module of that name in
    whatever folder its starter put on the path.
    """
    names = {_name(path): path for path in sources(root) if path.endswith(".py")}
    by_stem = {PurePosixPath(path).stem: name for name, path in names.items()}
    graph: Graph = {}
    for name, path in names.items():
        package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        tree = ast.parse((root / path).read_text(), filename=path)
        graph[name] = set()
        for target in _imported(tree, package):
            candidates = (target, target.rpartition(".")[0])
            beside = (f"{package}.{c}" for c in candidates)
            stems = (by_stem.get(c, "") for c in candidates if c and "." not in c)
            known = (c for c in (*candidates, *beside, *stems) if c in names)
            if (found := next(known, None)) and found != name:
                graph[name].add(found)
    return graph


def python_circles(root: Path) -> list[str]:
    """No import circle in Python, neither by an import within a function."""
    return circles(imports(root))


def _reachable(graph: Graph, start: str) -> set[str]:
    seen, waiting = set[str](), [start]
    while waiting:
        waiting += (new := graph.get(waiting.pop(), set()) - seen)
        seen |= new
    return seen


def run_and_analysis(root: Path) -> list[str]:
    """apbed.run and apbed.analysis meet on disk alone: neither comes to import the other."""
    graph = imports(root)
    rooms = ("apbed.run", "apbed.analysis")
    missing = [f"there is no {room}" for room in rooms if room not in graph]
    breaches = [
        f"{module} comes to import {other}"
        for room, foreign in (rooms, rooms[::-1])
        for module in sorted(graph)
        if module == room or module.startswith(f"{room}.")
        for other in sorted(_reachable(graph, module))
        if other == foreign or other.startswith(f"{foreign}.")
    ]
    return missing + breaches


RULES = (c_circles, medium_core, long_files, large_folders, python_circles, run_and_analysis)
