# SPDX-License-Identifier: GPL-2.0-only
"""`make check`: runs every suite and sums what they report.

Principle: each suite speaks the format of its own field (pytest's last line,
KTAP as in Documentation/dev-tools/ktap.rst of the kernel, or a line "N
passed, N failed"); only the sum is made here. A suite that ends with an error
has failed, whatever it counted. Two run at a time: most of them wait for a lab
kernel, whose virtual time does not feel a busy machine.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import cache
from apbed.kernels.packages import VERSIONS
from apbed.processes import stop_group

OUT = REPOSITORY / "out" / "check"
SUITE_LIMIT_S = 1500.0
ACK_SKIP = (
    "'tcp/tcp_ack_skip.py --turns' 'tcp/tcp_ack_skip_edges.py --turns' "
    "tcp/tcp_ack_skip_mptcp.py 'tcp/tcp_ack_skip_safety.py --quick'"
)
TDC = "selftests/tc-testing/tdc.sh"
LAB, QDISC = "selftests/lib", "selftests/qdisc"
OPERATIONS = "'qdisc/random_operations.py 2000' qdisc/refusals.py"
TAIL_LINES, TAIL_WIDTH = 30, 160
POLL_S = 0.1

KTAP_PLAN = re.compile(r"^(?:\[ *\d+\.\d+\] )?1\.\.(\d+)")
KTAP_RESULT = re.compile(r"^(?:\[ *\d+\.\d+\] )?( *)(not )?ok \d+\b(.*)$")
FAILURE = re.compile(r"^(\[ *\d+\.\d+\] )?( *not ok \d|E  |FAILED |Traceback)")
COUNTED = re.compile(r"\b(\d+) (passed|failed|skipped|errors?)\b")


@dataclass(frozen=True)
class Totals:
    """Counts of single tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {self.skipped} skipped" if self.skipped else text


@dataclass(frozen=True)
class Suite:
    """A shell command run from the top of the tree.

    `slow`: only with --all. `single`: its exit status is its one result.
    """

    name: str
    command: str
    slow: bool = False
    single: bool = False


def ktap_totals(lines: Iterable[str]) -> Totals | None:
    """Counts of a KTAP stream's innermost results, or None if it has none."""
    leaves: list[tuple[int, str]] = []
    planned = seen = 0
    for line in lines:
        if line.startswith("1..0 # SKIP"):
            return Totals(skipped=1)
        if plan := KTAP_PLAN.match(line):
            planned += int(plan[1])
        match = KTAP_RESULT.match(line)
        if not match:
            continue
        depth = len(match[1])
        seen += depth == 0
        word = "failed" if match[2] else "skipped" if "# SKIP" in match[3] else "passed"
        # A result comes after the deeper ones it sums up; it counts itself
        # only if it failed for a reason of its own, such as its set-up.
        subtests = [leaf for level, leaf in leaves if level > depth]
        leaves = [(min(level, depth), leaf) for level, leaf in leaves]
        if not subtests or (word == "failed" and "failed" not in subtests):
            leaves.append((depth, word))
    words = [word for _, word in leaves]
    if not words and not planned:
        return None
    missing = max(planned - seen, 0)  # of a stream that was cut off
    return Totals(words.count("passed"), words.count("failed") + missing, words.count("skipped"))


def line_totals(lines: Sequence[str]) -> Totals | None:
    """Counts of the last line that states them, pytest's or the plain one; else None."""
    for line in reversed(lines):
        counts = {word.rstrip("s"): int(number) for number, word in COUNTED.findall(line)}
        if counts.keys() & {"passed", "failed"}:
            return Totals(
                counts.get("passed", 0),
                counts.get("failed", 0) + counts.get("error", 0),
                counts.get("skipped", 0),
            )
    return None


def totals(lines: Sequence[str], status: int, single: bool = False) -> Totals:
    """What a suite's output and exit status amount to; `single` as in Suite."""
    counted = None if single else ktap_totals(lines) or line_totals(lines)
    if counted is None:
        return Totals(passed=1) if single and status == 0 else Totals(failed=1)
    if status and not counted.failed:
        return counted + Totals(failed=1)
    return counted


def _sources(*patterns: str) -> str:
    """Committed or not, the files of the tree that match: shell words."""
    return " ".join(
        str(path.relative_to(REPOSITORY))
        for pattern in patterns
        for path in sorted(REPOSITORY.glob(pattern))
    )


def suites() -> list[Suite]:
    """Every suite: what ends at once, then the two that take longest, then the others."""
    kernel, debug = cache.find(), cache.find(debug=True)
    if not kernel or not debug:
        raise ApbedError("no lab kernels yet: make all debug")
    modules = f"make -C kernel KDIR={kernel.build_dir} ARCH=um"
    places = ("scripts/", "selftests/**/", "tc/", "tools/**/", "testbed/**/")
    patterns = [f"{place}*.{kind}" for place in places for kind in ("sh", "bash")]
    shell = _sources(*patterns, ".ci/run")
    # sparse only warns: any warning is a failure here.
    clean = "tee /dev/stderr | { ! grep -qE '(warning|error):'; }"
    return [
        Suite("ruff", ".venv/bin/ruff check . && .venv/bin/ruff format --check .", single=True),
        Suite("mypy", ".venv/bin/mypy", single=True),
        Suite("shellcheck", f"shellcheck -x {shell}", single=True),
        Suite("checkpatch", f"{modules} checkpatch", single=True),
        Suite("sparse", f"{modules} OUT=../build/sparse sparse 2>&1 | {clean}", single=True),
        Suite("medium", "make -C testbed/medium check"),
        Suite("tools", "make -C tools check"),
        Suite("tc", "make -C tc check"),
        Suite("completion", "tools/completion/check.sh build/bin"),
        Suite("kunit", _kunit(kernel)),
        Suite("kunit-debug", _kunit(debug)),
        Suite("churn", _in_lab(debug, f"{QDISC}/qdisc_churn.sh")),
        Suite("pytest", ".venv/bin/pytest -q"),
        Suite("inflight-life", _in_lab(debug, f"{QDISC}/inflight_life.sh")),
        Suite("fuzz-netlink", _in_lab(debug, f"{LAB}/watched.sh 'qdisc/fuzz_netlink.py 6000'")),
        Suite("fuzz-packets", _in_lab(debug, f"{QDISC}/fuzz_packets.sh 150000")),
        Suite(
            "tdc", _in_lab(kernel, 'selftests/tc-testing/tdc.sh "$(.venv/bin/apbed kernel tdc)"')
        ),
        Suite("operations", _in_lab(debug, f"{LAB}/watched.sh {OPERATIONS}")),
        Suite("parents", _in_lab(debug, f"{LAB}/watched.sh 'qdisc/parents.py 3'")),
        Suite("ack-skip", _in_lab(kernel, f"{LAB}/each.sh {ACK_SKIP}")),
        Suite("ackskip-module", "selftests/tcp/ackskip_module.sh short"),
        Suite("pytest-slow", ".venv/bin/pytest -q -m slow", slow=True),
        Suite("modules-all", "make modules-all", slow=True, single=True),
        # What ARCH=um has no ftrace for.
        Suite("sparse-x86_64", f"{_sparse_x86()} 2>&1 | {clean}", slow=True, single=True),
        Suite("ackskip-module-all", "selftests/tcp/ackskip_module.sh", slow=True),
        *_long(debug),
        *_other_kernels(kernel.version),
        Suite("ack-skip-debug", _in_lab(debug, f"{LAB}/watched.sh {ACK_SKIP}"), slow=True),
        *_safety(kernel),
        *_series(),
    ]


def _sparse_x86() -> str:
    tree = "$(.venv/bin/apbed kernel tree --arch x86_64)"
    out = "OUT=../build/sparse-x86_64 KBUILD_MODPOST_WARN=1"  # it knows no symbols
    return f'make -C kernel KDIR="{tree}" ARCH=x86_64 {out} sparse'


def _long(debug: cache.LabKernel) -> Iterator[Suite]:
    """What shorter suites do, as often or as long as the name says."""
    flood = _kunit_command(debug) + " lasack_flood packets=1000000"
    commands = {
        "flood-1m": flood,
        "fuzz-packets-10m": f"{QDISC}/fuzz_packets.sh 10000000 2",
        "parents-60s": f"{LAB}/watched.sh 'qdisc/parents.py 60'",
        "fuzz-netlink-100k": f"{LAB}/watched.sh 'qdisc/fuzz_netlink.py 100000 2'",
        "operations-10k": f"{LAB}/watched.sh 'qdisc/random_operations.py 10000'",
    }
    for name, script in commands.items():
        yield Suite(name, _in_lab(debug, script), slow=True)


def _other_kernels(default: str) -> Iterator[Suite]:
    """The suites that run in a kernel, in those that are built beside the default one."""
    for version in VERSIONS:
        kernel = cache.find(version)
        if kernel and version != default:
            yield Suite(f"kunit-{version}", _kunit(kernel), slow=True)
            churn = _in_lab(kernel, f"{QDISC}/qdisc_churn.sh")
            yield Suite(f"churn-{version}", churn, slow=True)


def _safety(kernel: cache.LabKernel) -> Iterator[Suite]:
    """What skipping ACKs costs each congestion control."""
    for control in ("cubic", "reno", "bbr"):
        script = f"{LAB}/each.sh 'tcp/tcp_ack_skip_safety.py {control}'"
        yield Suite(f"ack-safety-{control}", _in_lab(kernel, script), slow=True)


def _series() -> Iterator[Suite]:
    """What is said of the ACK-skip series, for each line whose kernels are built."""
    for version in VERSIONS:
        kernel = cache.find(version)
        if kernel:
            script = f"{LAB}/each.sh tcp/tcp_ack_skip.py 'tcp/tcp_ack_skip_edges.py --long'"
            yield Suite(f"ack-skip-{version}", _in_lab(kernel, script), slow=True)
        if kernel and cache.find(version, stock=True):
            yield Suite(f"ack-trace-{version}", f"selftests/tcp/ack_trace.sh {version}", slow=True)
        yield Suite(f"patches-{version}", f"selftests/tcp/patches.sh {version}", slow=True)


def _kunit(kernel: cache.LabKernel) -> str:
    return _in_lab(kernel, _kunit_command(kernel))


def _kunit_command(kernel: cache.LabKernel) -> str:
    return f"kernel/common/tests/kunit.sh build/modules/{kernel.release}-um"


def _in_lab(kernel: cache.LabKernel, script: str) -> str:
    """A shell script run as root inside a lab kernel."""
    option = " --debug" if kernel.debug else ""
    limit = f" --limit {SUITE_LIMIT_S:.0f}"
    return f".venv/bin/apbed boot --kernel {kernel.version}{option}{limit} -- sh {script}"


class RunningSuite:
    """A suite under way in a process group of its own, its output in `log`."""

    def __init__(self, suite: Suite, log: Path) -> None:
        self.suite, self.log = suite, log
        self.begin = time.monotonic()
        with log.open("w") as sink:
            self._process = subprocess.Popen(
                ["bash", "-o", "pipefail", "-c", suite.command],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )

    def ended(self) -> bool:
        """Whether it has ended by now; one over its time is stopped."""
        if self._process.poll() is None and self.elapsed_s() > SUITE_LIMIT_S:
            self.stop()
            with self.log.open("a") as log:
                log.write(f"{self.suite.name}: stopped after {SUITE_LIMIT_S:.0f} s\n")
        return self._process.poll() is not None

    def stop(self) -> None:
        """End it and all it started."""
        stop_group(self._process)

    def elapsed_s(self) -> float:
        """Seconds of wall time since it began."""
        return time.monotonic() - self.begin

    def totals(self) -> Totals:
        """What it amounts to, once it has ended."""
        lines = self.log.read_text(errors="replace").splitlines()
        return totals(lines, self._process.returncode, self.suite.single)


def run_suites(chosen: Iterable[Suite], jobs: int) -> Generator[RunningSuite]:
    """Run suites, `jobs` at a time; each is yielded when it has ended."""
    waiting, running = deque(chosen), list[RunningSuite]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                suite = waiting.popleft()
                running.append(RunningSuite(suite, OUT / f"{suite.name}.log"))
            for suite_run in [one for one in running if one.ended()]:
                running.remove(suite_run)
                yield suite_run
            time.sleep(POLL_S)
    finally:
        for suite_run in running:
            suite_run.stop()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suites; exit status 0 if no test failed."""
    parser = argparse.ArgumentParser(
        prog="make check", description="Runs the test suites and sums their results."
    )
    parser.add_argument("--all", action="store_true", help="the slow suites too")
    parser.add_argument("--jobs", type=int, default=2, help="suites at a time (default: 2)")
    parser.add_argument("names", nargs="*", metavar="SUITE", help="only these")
    args = parser.parse_args(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        chosen = _chosen(suites(), args.names, args.all)
    except ApbedError as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    total = Totals()
    for ended in run_suites(chosen, max(args.jobs, 1)):
        result = ended.totals()
        total += result
        mark = "FAILED" if result.failed else "ok"
        print(f"{mark:<8}{ended.suite.name:<14}{result} ({ended.elapsed_s():.1f} s)", flush=True)
        if result.failed:
            _print_reasons(ended.log)
    print(total)
    return 1 if total.failed else 0


def _print_reasons(log: Path) -> None:
    """What failed, as far as its lines say it, and the end of the log."""
    lines = log.read_text(errors="replace").splitlines()
    failed = [line for line in lines[:-TAIL_LINES] if FAILURE.match(line)]
    for line in failed[:TAIL_LINES] + lines[-TAIL_LINES:]:
        print(f"  | {line[:TAIL_WIDTH]}")
    print(f"  whole log: {log.relative_to(REPOSITORY)}")


def _chosen(known: Sequence[Suite], names: Sequence[str], slow: bool) -> list[Suite]:
    unknown = set(names) - {suite.name for suite in known}
    if unknown:
        have = ", ".join(suite.name for suite in known)
        raise ApbedError(f"unknown suite {', '.join(sorted(unknown))}: choose from {have}")
    if names:
        return [suite for suite in known if suite.name in names]
    return [suite for suite in known if slow or not suite.slow]


if __name__ == "__main__":
    sys.exit(main())
