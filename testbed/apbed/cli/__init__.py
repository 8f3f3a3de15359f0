# SPDX-License-Identifier: GPL-2.0-only
"""The `apbed` command: one sub-command per module, each with `add_parser` and a `func`."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

from apbed.errors import ApbedError
from apbed.processes import find_administrators_programs, signals_as_interrupt

COMMANDS = (
    "apbed.cli.run",
    "apbed.cli.grid",
    "apbed.cli.report",
    "apbed.cli.export",
    "apbed.cli.model",
    "apbed.cli.listing",
    "apbed.cli.doctor",
    "apbed.cli.kernel",
    "apbed.cli.air",
    "apbed.cli.bench",
    "apbed.cli.boot",
    "apbed.cli.distro",
    "apbed.cli.smp",
    "apbed.cli.cross",
)

EXAMPLES = """\
examples:
  apbed doctor                                   what is missing, and how to get it
  apbed list                                     the scenarios that come with apbed
  apbed run testbed/scenarios/demo.toml          run one; out/demo/report.html shows it
  apbed run demo --set 'seed=[1,2,3]' --jobs 2   the same scenario with other values
  apbed report out/demo                          compute the metrics and the report again
  apbed export out/demo --flent                  the runs for flent, SQLite or a spreadsheet
  apbed model http-queueing 8                    what a paper's equation says
  apbed kernel build --version 7.2               build another lab kernel
  apbed boot -- uname -a                         one command inside the lab kernel
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line, built from the sub-command modules."""
    top = argparse.ArgumentParser(
        prog="apbed",
        description="A virtual-time test bed for fair TCP on Wi-Fi access points.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(name).add_parser(subparsers)
    return top


def _said(error: subprocess.CalledProcessError) -> str:
    """Which program failed, how, and the last that it said of it, as far as anyone heard."""
    program = error.cmd if isinstance(error.cmd, str) else str(error.cmd[0])
    if error.returncode < 0:
        how = f"was ended by {signal.strsignal(-error.returncode) or -error.returncode}"
    else:
        how = f"failed with status {error.returncode}"
    heard = error.stderr or ""
    text = heard.decode(errors="replace") if isinstance(heard, bytes) else heard
    lines = text.strip().splitlines()
    return f"{program} {how}" + (f": {lines[-1]}" if lines else "")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command.

    Exit status: 0 done, 1 failed (one line says why), 2 usage, 130 Ctrl-C or ended by a signal.
    """
    args = parser().parse_args(argv)
    find_administrators_programs()
    try:
        with signals_as_interrupt():
            status: int = args.func(args)
    except ApbedError as error:
        print(f"apbed: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"apbed: {_said(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("apbed: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) went away: not an error worth a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"apbed: {place}{error.strerror or error}", file=sys.stderr)
        return 1
    return status
