# SPDX-License-Identifier: GPL-2.0-only
"""What a paper's equation is to a program: named parameters in, named figures out.

Principle: everything that `apbed model`, a scenario's [[figure]] and the report need to know of an
equation stands in one value, so that a number of a page is the number of the command.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from apbed.errors import ApbedError

Number = float | int
Answer = tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """One of an equation's variables."""

    meaning: str  # with its unit
    default: tuple[Number, ...]
    low: float = 0.0
    high: float = float("inf")
    whole: bool = True

    def check(self, name: str, value: Number) -> Number:
        """`value`, or ApbedError if the equation has no meaning there."""
        if not math.isfinite(value) or not self.low <= value <= self.high:
            raise ApbedError(f"{name} = {value:g}: expected {self._range()}")
        if self.whole and value != int(value):
            raise ApbedError(f"{name} = {value:g}: expected a whole number")
        return int(value) if self.whole else float(value)

    def _range(self) -> str:
        if math.isinf(self.high):
            return f"a number of at least {self.low:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints for some values of the parameters."""

    at: Mapping[str, Number]
    value: float
    digits: int  # after the point, as printed
    where: str
    figure: int = 0  # which of the equation's figures


@dataclass(frozen=True)
class Equation:
    """A numbered equation of a paper, or one that it states without a number."""

    paper: str
    number: str
    meaning: str
    parameters: Mapping[str, Parameter]
    figures: tuple[str, ...]  # what `solve` returns, with units; the first is the curve's
    solve: Callable[..., Answer]
    repaired: str = ""  # how the text is wrong, and what is computed instead
    printed: tuple[Printed, ...] = field(default=())

    @property
    def name(self) -> str:
        """As a scenario and a page cite it."""
        return f"{self.paper} {self.number}"

    def at(self, values: Mapping[str, Number]) -> Answer:
        """The figures for one value of each parameter; ApbedError for one that cannot be."""
        unknown = sorted(set(values) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise ApbedError(f"{self.name}: no parameter {unknown[0]!r}; it has: {known}")
        given = {
            name: one.check(name, values.get(name, one.default[0]))
            for name, one in self.parameters.items()
        }
        return self.solve(**given)

    def table(self, values: Mapping[str, Sequence[Number]]) -> list[tuple[Number, ...]]:
        """Rows of parameters and figures, for each combination of the parameters' values."""
        unknown = sorted(set(values) - set(self.parameters))
        if unknown:
            self.at(dict.fromkeys(unknown, 0))
        lists = [values.get(name, one.default) for name, one in self.parameters.items()]
        points = itertools.product(*lists)
        return [
            (*point, *self.at(dict(zip(self.parameters, point, strict=True)))) for point in points
        ]
