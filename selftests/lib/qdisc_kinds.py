# SPDX-License-Identifier: GPL-2.0-only
"""The options of each discipline of ours, as its documentation states them.

Principle: the ranges are written down here once more, from Documentation/ and not from the
code, so that a test of them can fail. Another kind of discipline is one more entry.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One number. `attribute` is its number in netlink."""

    name: str
    attribute: int
    least: int
    most: int
    good: str  # a value for tc(8)
    unit: str = ""  # what follows a number in tc
    off: bool = False  # 0 is allowed in netlink
    tc_range: str = ""  # as tc states it
    kernel_range: str = ""  # as the kernel does; without: its policy has the range

    def bad_words(self) -> list[str]:
        """Values that tc has to refuse."""
        numbers = [f"{self.least - 1}{self.unit}", f"{self.most + 1}{self.unit}", "-1", "nan"]
        return [*numbers, "x", "99999999999999999999", f"{self.good}x"]

    def bad_numbers(self) -> list[int]:
        """Values that the kernel has to refuse."""
        below = [self.least - 1] if self.least > 1 or not self.off else []
        return [value for value in (*below, self.most + 1, 0xFFFFFFFE) if self.is_bad(value)]

    def is_bad(self, value: int) -> bool:
        """Whether a 32-bit value is out of the range."""
        if not 0 <= value < 1 << 32 or (self.off and value == 0):
            return False
        return not self.least <= value <= self.most


KINDS: dict[str, tuple[Option, ...]] = {
    "lasack": (
        Option("limit", 1, 1, 1048576, "30", tc_range="1 to 1048576 packets",
               kernel_range="1 to 1048576 packets"),
        Option("inflight", 2, 1, 65535, "3", off=True, tc_range="1 to 65535 packets, auto or off",
               kernel_range="1 to 65535"),
        Option("memory_limit", 3, 65536, 4294967295, "1m", tc_range="65536 to 4294967295 bytes",
               kernel_range="65536 to 4294967295 bytes"),
        Option("flows", 4, 1, 65535, "40", tc_range="1 to 65535", kernel_range="1 to 65535"),
        Option("idle", 5, 100, 86400000, "2s", "ms", True, "100ms to 86400s in whole ms or off",
               "100 to 86400000 ms"),
        Option("halflife", 6, 100, 86400000, "2s", "ms", True, "100ms to 86400s in whole ms or off",
               "100 to 86400000 ms"),
        Option("quantum", 7, 1000, 16777216, "24000", off=True,
               tc_range="1000 to 16777216 bytes, auto or off",
               kernel_range="1000 to 16777216 bytes"),
        Option("floor", 8, 1, 100, "5", off=True, tc_range="1 to 100 percent or off",
               kernel_range="1 to 100 percent"),
        Option("observe", 9, 1, 1, "on", off=True, tc_range="on or off", kernel_range="1, or 0"),
        Option("mode", 10, 1, 1, "paper", off=True, tc_range="default or paper",
               kernel_range="1 (paper)"),
        Option("fair", 11, 1, 1, "station", off=True, tc_range="flow or station",
               kernel_range="1 (station)"),
        Option("overhead", 12, 0, 65535, "100", tc_range="0 to 65535 bytes or auto",
               kernel_range="0 to 65535 bytes, or auto"),
        Option("target", 13, 1, 10000, "50ms", "ms", True, "1ms to 10s in whole ms, auto or off",
               "1 to 10000 ms"),
        Option("unit", 14, 0, 0, "bytes", tc_range="bytes or airtime", kernel_range="0 (bytes)"),
    ),
    "inflight": (
        Option("limit", 1, 1, 65535, "3", tc_range="1 to 65535 packets or auto",
               kernel_range="1 to 65535"),
        Option("stall", 2, 10, 60000, "50ms", "ms", tc_range="10ms to 60s in whole ms"),
    ),
    "ackwrr": (
        Option("limit", 1, 1, 1048576, "30", tc_range="1 to 1048576 packets",
               kernel_range="1 to 1048576 packets"),
        Option("inflight", 2, 1, 65535, "3", off=True, tc_range="1 to 65535 packets, auto or off",
               kernel_range="1 to 65535"),
    ),
}  # fmt: skip

# Numbers that are given all or none of them.
TOGETHER: dict[str, tuple[Option, ...]] = {
    "ackwrr": (
        Option("weights", 3, 1, 255, "2", kernel_range="1 to 255 for DATA and for ACK, or auto"),
        Option("weights", 4, 1, 255, "1", kernel_range="1 to 255 for DATA and for ACK, or auto"),
    ),
}
