# SPDX-License-Identifier: GPL-2.0-only
"""The suites of the repository: what `make check` and `make check-all` run.

They are in order of what they take, longest first, because two run at a time. tests/README.md
has a table of what to run after which change; a test compares it with this list.
"""

from __future__ import annotations

from collections.abc import Iterator

from apbed.checkout import REPOSITORY
from apbed.kernels.packages import VERSIONS
from tests.runner.running import Suite

LAB, QDISC, TCP = "selftests/lib", "selftests/qdisc", "selftests/tcp"
TDC = 'selftests/tc-testing/tdc.sh "$(.venv/bin/apbed kernel selftests)/tc-testing"'
ACK_SKIP = (
    "'tcp/tcp_ack_skip.py --turns' 'tcp/tcp_ack_skip_edges.py --turns' "
    "tcp/tcp_ack_skip_mptcp.py 'tcp/tcp_ack_skip_safety.py --quick'"
)
# Options of `apbed boot`: the default line's kernel, and that with KASAN, lockdep and so on.
DEFAULT, DEBUG = "", "--debug"
KUNIT = "-c 'kernel/common/tests/kunit.sh build/modules/$(uname -r)-um'"
OPERATIONS = (
    "'qdisc/random_operations.py 2000' 'qdisc/random_operations.py --stopping 1000' "
    "qdisc/refusals.py qdisc/ack_queue.py"
)
HWSIM = "$(.venv/bin/apbed kernel path --debug)/mac80211_hwsim.ko"
# The lab's radio, whose packets wait in mac80211's own queues; uname is the guest's.
QUEUES = "build/radio/$(uname -r)-um/lab_radio.ko:hw_frames=8,0:airtime_fairness=1,0:aql=1,0"
STOCK_TESTS = "make -s stock && .venv/bin/python -m tests.stock.selftests"
STOCK_SMOKE = f"{STOCK_TESTS} qdisc/autoload.sh tc-testing"
STEADY = ("access_points", "default_bound", "fairness")
WIFI = (*STEADY, "changes")
FIRST = f"--version {VERSIONS[0]}"
LAB_LIMIT_S = 14400  # processor seconds of one boot; silence ends it long before
DISTRO = "x86-64 with apt and the package linux-image-amd64"
SYSTEM = f"{DISTRO}, root, debhelper and dh-dkms"


def _sources(*patterns: str) -> str:
    """Committed or not, the files of the tree that match: shell words."""
    return " ".join(
        str(path.relative_to(REPOSITORY))
        for pattern in patterns
        for path in sorted(REPOSITORY.glob(pattern))
    )


def suites() -> list[Suite]:
    """Every suite, slow ones last."""
    return [
        Suite("churn", _boot(DEBUG, f"{QDISC}/qdisc_churn.sh 40")),
        *_pytest(),
        Suite("fuzz-packets", _boot(DEBUG, f"{QDISC}/fuzz_packets.sh 150000")),
        Suite("parents", _boot(DEBUG, f"{LAB}/watched.sh 'qdisc/parents.py 3'")),
        Suite("backpressure", _boot(DEBUG, f"{LAB}/watched.sh qdisc/backpressure.py")),
        Suite("operations", _boot(DEBUG, f"{LAB}/watched.sh {OPERATIONS}")),
        Suite("ackskip-module", f"{TCP}/ackskip_module.sh short", may_skip=DISTRO),
        Suite("ack-skip", _boot(DEFAULT, f"{LAB}/each.sh {ACK_SKIP}")),
        Suite("access-point-changes", _boot(DEBUG, _wifi(HWSIM, "changes"))),
        Suite("access-points", _boot(DEBUG, _wifi(HWSIM, *STEADY))),
        Suite("fuzz-netlink", _boot(DEBUG, f"{LAB}/watched.sh 'qdisc/fuzz_netlink.py 6000'")),
        Suite("attacks", _boot(DEFAULT, f"{QDISC}/attacks.sh")),
        Suite("kunit-debug", _boot(DEBUG, KUNIT)),
        Suite("tdc", _boot(DEFAULT, TDC)),
        Suite("stock-smoke", STOCK_SMOKE, may_skip=DISTRO),
        Suite("stock-wifi", f"{STOCK_TESTS} wifi", may_skip=DISTRO),
        Suite("stock-wpa2", ".venv/bin/pytest -q tests/stock/test_wpa2.py", may_skip=DISTRO),
        Suite("gso", _boot(DEFAULT, f"{QDISC}/gso.sh")),
        Suite("inflight-life", _boot(DEBUG, f"{QDISC}/inflight_life.sh")),
        Suite("medium-core", "make -C testbed/medium check"),
        Suite("kunit", _boot(DEFAULT, KUNIT)),
        Suite("mypy", ".venv/bin/mypy", single=True),
        *_static(),
        Suite("tools", "make -C tools check"),
        Suite("tc", "make -C tc check"),
        Suite("completion", "tools/completion/check.sh build/bin"),
        Suite("ack-cost", f"{TCP}/ack_cost.py", slow=True),
        Suite("pytest-slow", ".venv/bin/pytest -q -m slow", slow=True),
        Suite("modules-all", "make modules-all", slow=True, single=True),
        Suite("cross", f"make cross && .venv/bin/apbed cross kunit mips {FIRST}", slow=True),
        *_clang(),
        Suite("allocations", f"{QDISC}/allocations.sh", slow=True, may_skip=DISTRO),
        Suite("ackskip-module-all", f"{TCP}/ackskip_module.sh", slow=True, may_skip=DISTRO),
        Suite("access-points-queues", _boot(DEFAULT, f"-c 'sh {_wifi(QUEUES, *WIFI)}'"), slow=True),
        *_long(),
        *_other_kernels(),
        Suite("ack-skip-debug", _boot(DEBUG, f"{LAB}/watched.sh {ACK_SKIP}"), slow=True),
        *_safety(),
        *_series(),
        *_smp(),
        *_stock(),
    ]


def _pytest() -> Iterator[Suite]:
    """One for each folder with such tests: tests/NAME and tools/NAME/tests."""
    folders = {path.parent for path in REPOSITORY.glob("tests/*/test_*.py")}
    folders |= {path.parent for path in REPOSITORY.glob("tools/*/tests/test_*.py")}
    longest_first = ("experiments", "apbed", "stock", "medium")
    names = {(path.parent if path.name == "tests" else path).name: path for path in folders}
    for name in sorted(names, key=lambda name: (*(name != one for one in longest_first), name)):
        folder = names[name].relative_to(REPOSITORY)
        # Their machines are emulated: minutes of processor time, in which `system` prints on.
        emulated = {"stock": DISTRO, "system": SYSTEM}
        words = " -s" if name == "system" else ""
        command = f".venv/bin/pytest -q{words} {folder}"
        yield Suite(name, command, slow=name in emulated, may_skip=emulated.get(name))


def _static() -> Iterator[Suite]:
    """What reads the sources only."""
    modules = 'make -C kernel KDIR="$(.venv/bin/apbed kernel tree)" ARCH=um'
    places = ("scripts", "selftests/**", "kernel/**", "tc", "tools/**", "testbed/**", "tests/**")
    patterns = [f"{place}/*.{kind}" for place in places for kind in ("sh", "bash")]
    # sparse only warns: any warning is a failure here. So is kbuild's word that it did not run it.
    clean = "tee /dev/stderr | { ! grep -qE '(warning|error):|sparse is not available'; }"
    # Scripts without a suffix.
    packaging = ["packaging/apbed/apbed", "packaging/attach/*", "packaging/debian/*.p*"]
    packaging += ["packaging/openwrt/*/files/*.init", "packaging/openwrt/*/files/*.hotplug"]
    shell = _sources(*patterns, *packaging, ".ci/run")
    radio = 'make -C testbed/radio KDIR="$(.venv/bin/apbed kernel tree)" ARCH=um'
    tcp = radio.replace("testbed/radio", "testbed/tcp")
    source = 'SOURCE="$(.venv/bin/apbed kernel hwsim)"'
    sparse = f"{modules} OUT=../build/sparse sparse && {tcp} OUT=../../build/sparse-tcp sparse"
    sparse += f" && {radio} {source} OUT=../../build/sparse-radio sparse || echo error: make failed"
    yield Suite("sparse", f"{{ {sparse}; }} 2>&1 | {clean}", single=True)
    # What ARCH=um has no ftrace for.
    yield Suite("sparse-x86_64", f"{_sparse_x86()} 2>&1 | {clean}", slow=True, single=True)
    cocci = "coccinelle and ocaml-nox"
    yield Suite("coccicheck", "scripts/coccicheck.sh", slow=True, may_skip=cocci)
    yield Suite("shellcheck", f"shellcheck -x {shell}", single=True)
    checkpatch = f"{modules} checkpatch && {radio} checkpatch && {tcp} checkpatch"
    yield Suite("checkpatch", checkpatch, single=True)
    yield Suite("ruff", ".venv/bin/ruff check . && .venv/bin/ruff format --check .", single=True)


def _sparse_x86() -> str:
    tree = "$(.venv/bin/apbed kernel tree --arch x86_64)"
    out = "OUT=../build/sparse-x86_64 KBUILD_MODPOST_WARN=1"  # it knows no symbols
    return f'make -C kernel KDIR="{tree}" ARCH=x86_64 {out} sparse'


def _long() -> Iterator[Suite]:
    """What shorter suites do, as often or as long as the name says."""
    commands = {
        "churn-100": f"{QDISC}/qdisc_churn.sh 100",
        "flood-1m": KUNIT.removesuffix("'") + " lasack_flood packets=1000000'",
        "fuzz-packets-10m": f"{QDISC}/fuzz_packets.sh 10000000 2",
        "parents-60s": f"{LAB}/watched.sh 'qdisc/parents.py 60'",
        "fuzz-netlink-100k": f"{LAB}/watched.sh 'qdisc/fuzz_netlink.py 100000 2'",
        "soak": f'{LAB}/watched.sh "wifi/soak.py {HWSIM} 5 12"',
        "operations-10k": f"{LAB}/watched.sh 'qdisc/random_operations.py 10000' "
        "'qdisc/random_operations.py --stopping 10000'",
    }
    for name, script in commands.items():
        yield Suite(name, _boot(DEBUG, script), slow=True)


def _clang() -> Iterator[Suite]:
    """The modules of every line, compiled by clang."""
    for version in VERSIONS:
        command = f"scripts/clang.sh {version}"
        yield Suite(f"clang-{version}", command, slow=True, may_skip="clang and lld")


def _other_kernels() -> Iterator[Suite]:
    """What a kernel decides, in the kernels of every line without their checkers."""
    for version in VERSIONS:
        yield Suite(f"kunit-{version}", _boot(f"--kernel {version}", KUNIT), slow=True)
        churn = _boot(f"--kernel {version}", f"{QDISC}/qdisc_churn.sh")
        yield Suite(f"churn-{version}", churn, slow=True)


def _safety() -> Iterator[Suite]:
    """What skipping ACKs costs each congestion control."""
    for control in ("cubic", "reno", "bbr"):
        script = f"{LAB}/each.sh 'tcp/tcp_ack_skip_safety.py {control}'"
        yield Suite(f"ack-safety-{control}", _boot(DEFAULT, script), slow=True)


def _series() -> Iterator[Suite]:
    """What is said of the ACK-skip series, for each line."""
    for version in VERSIONS:
        script = f"{LAB}/each.sh tcp/tcp_ack_skip.py 'tcp/tcp_ack_skip_edges.py --long'"
        yield Suite(f"ack-skip-{version}", _boot(f"--kernel {version}", script), slow=True)
        yield Suite(f"ack-trace-{version}", f"{TCP}/ack_trace.sh {version}", slow=True)
        yield Suite(f"patches-{version}", f"{TCP}/patches.sh {version}", slow=True)


def _smp() -> Iterator[Suite]:
    """Several processors, emulated, under each checker: two minutes, and ten."""
    for checker in ("kasan", "kcsan"):
        boot = f".venv/bin/apbed smp boot --limit {LAB_LIMIT_S} {checker} -- sh {QDISC}/smp.sh"
        yield Suite(f"smp-{checker}", f"{boot} 120", slow=True, may_skip=DISTRO)
        yield Suite(f"smp-{checker}-10min", f"{boot} 600", slow=True, may_skip=DISTRO)


def _stock() -> Iterator[Suite]:
    """Every self-test in stock kernels: `make check-kernels`."""
    for version in VERSIONS:
        for target in ("qdisc", "tcp", "tc-testing", "wifi"):
            command = f".venv/bin/python -m tests.stock.selftests --kernel {version} {target}"
            yield Suite(f"stock-{version}-{target}", command, slow=True, may_skip=DISTRO)


def _wifi(radio: str, *programs: str) -> str:
    """The words that run programs of selftests/wifi on radios of this module."""
    words = " ".join(f'"wifi/{program}.py {radio}"' for program in programs)
    return f"{LAB}/watched.sh {words}"


def _boot(kernel: str, script: str) -> str:
    """A shell script run as root inside a lab kernel, which `kernel` names in apbed's options."""
    return f".venv/bin/apbed boot {kernel} --limit {LAB_LIMIT_S} -- sh {script}"
