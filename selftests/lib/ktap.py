# SPDX-License-Identifier: GPL-2.0-only
"""The results of a Python test, as KTAP (Documentation/dev-tools/ktap.rst of the kernel)."""

from __future__ import annotations

KSFT_SKIP = 4  # Documentation/dev-tools/kselftest.rst


def skip_all(reason: str) -> int:
    """What a program prints, and its exit status, if nothing of it can be tested here."""
    print(f"KTAP version 1\n1..0 # SKIP {reason}", flush=True)
    return KSFT_SKIP


class Ktap:
    """Writes results to standard output and counts them.

    `plan` is how many there will be (None: not known yet, see end()). `nested` indents all by
    a level, for a program whose own result is one line of another's, as under watched.sh.
    """

    def __init__(self, plan: int | None = None, nested: bool = False) -> None:
        self._indent = "    " if nested else ""
        self._planned = plan is not None
        self.number = self.failed = self.skipped = 0
        self._print("KTAP version 1")
        if plan is not None:
            self._print(f"1..{plan}")

    def result(self, good: bool, name: str, *diagnoses: str) -> None:
        """One result; each line of `diagnoses` comes before it as a comment."""
        self.number += 1
        self.failed += not good
        for diagnosis in diagnoses:
            self.comment(diagnosis)
        self._print(f"{'ok' if good else 'not ok'} {self.number} {name}")

    def skip(self, name: str, reason: str) -> None:
        """A test of what this kernel or machine does not have."""
        self.number += 1
        self.skipped += 1
        self._print(f"ok {self.number} {name} # SKIP {reason}")

    def comment(self, text: str) -> None:
        """A line, or several, that are no result."""
        for line in text.splitlines():
            self._print(f"# {line}")

    def end(self) -> int:
        """The exit status: 1 if a test failed or there was none, KSFT_SKIP if all were skipped.

        Prints a plan not yet printed.
        """
        if not self._planned:
            self._print(f"1..{self.number}")
        if self.number and self.skipped == self.number:
            return KSFT_SKIP
        return 1 if self.failed or not self.number else 0

    def _print(self, line: str) -> None:
        print(self._indent + line, flush=True)
