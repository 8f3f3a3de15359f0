# SPDX-License-Identifier: GPL-2.0-only
"""Poisson arrivals of TCP transfers with random sizes, spread over the stations.

Principle: what arrives is drawn before anything runs, from the run's seed alone, so that every
scheduler meets the same transfers at the same times. Times, sizes, directions and stations
each have a random stream of their own: changing one of them leaves the others as they were.

Sources: layer2-layer3, section IV-A: Poisson arrivals, Pareto or exponential sizes between k = 6
and P = 13,000 segments of 1500 bytes, 60 kB on average, 66 % downloads. Both are truncated by
conditioning on k <= X <= P; for Pareto that is the bounded Pareto distribution B(k, P, alpha) of
M. Crovella, M. Harchol-Balter, C. Murta, "Task Assignment in a Distributed System: Improving
Performance by Unbalancing Load", SIGMETRICS 1998.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from scipy.optimize import brentq

from apbed.errors import ApbedError
from apbed.scenario.plan import Flow

TRANSFERS_MAX = 50_000  # expected in a run
ALPHA_RANGE = (1e-6, 100.0)  # of the tail exponents that a mean is solved for

Quantile = Callable[[float], float]  # from [0, 1) to bytes


@dataclass(frozen=True)
class Workload:
    """What a scenario's [workload] asks for."""

    load_mbps: float
    sizes: str  # pareto, exponential or list
    min_bytes: int
    max_bytes: int
    mean_bytes: float
    alpha: float  # of Pareto sizes; 0: as the mean has it
    list_bytes: list[Any]
    down_share: float  # of all transfers
    stop_s: float  # none starts later; 0: until the end
    stations: int  # that have transfers, from sta1 on; 0: all


def pareto_moment(order: int, alpha: float, low: float, high: float) -> float:
    """E[X^order] in bytes^order of the bounded Pareto B(low, high, alpha), alpha > 0.

    The density is alpha low^alpha x^(-alpha-1) / (1 - (low/high)^alpha), layer2-layer3's eq. 1 on
    [low, high]. With x = low e^t and L = ln(high/low) the integral of x^order over it is
    low^order g(alpha - order) / g(alpha), where g(y) is the integral of e^(-y t) over [0, L].
    """
    span = math.log(high / low)

    def integral(y: float) -> float:
        return -math.expm1(-y * span) / y if abs(y) > 1e-9 else span

    return low**order * integral(alpha - order) / integral(alpha)


def pareto_alpha(mean: float, low: float, high: float) -> float:
    """The alpha whose bounded Pareto B(low, high, alpha) has this mean, in bytes.

    Between low (alpha to infinity) and (high - low) / ln(high / low) (alpha to 0) there is one.
    """
    least, most = ALPHA_RANGE
    bounds = [pareto_moment(1, alpha, low, high) for alpha in (most, least)]
    if not bounds[0] < mean < bounds[1]:
        raise ApbedError(
            f"mean_bytes = {mean:g}: expected {bounds[0]:.0f} to {bounds[1]:.0f}, "
            "what Pareto sizes between min_bytes and max_bytes can have"
        )
    return float(brentq(lambda alpha: pareto_moment(1, alpha, low, high) - mean, least, most))


def pareto_quantile(alpha: float, low: float, high: float) -> Quantile:
    """The inverse of F(x) = (1 - (low/x)^alpha) / (1 - (low/high)^alpha)."""
    inside = -math.expm1(-alpha * math.log(high / low))
    return lambda u: low * (1 - u * inside) ** (-1 / alpha)


def exponential_mean(scale: float, low: float, high: float) -> float:
    """The mean of an exponential of mean `scale` given low <= X <= high, in bytes.

    It has no memory: X - low is the same exponential below high - low.
    """
    span = (high - low) / scale
    return low + scale - (high - low) / math.expm1(span) if span < 700 else low + scale


def exponential_scale(mean: float, low: float, high: float) -> float:
    """The scale whose truncated exponential has this mean, in bytes."""
    most = (low + high) / 2  # of the uniform distribution, scale to infinity
    if not low < mean < 0.99 * most:
        raise ApbedError(
            f"mean_bytes = {mean:g}: expected more than min_bytes = {low:g} and less "
            f"than {0.99 * most:.0f}"
        )
    bounds = ((mean - low) / 2, 100 * (high - low))
    return float(brentq(lambda scale: exponential_mean(scale, low, high) - mean, *bounds))


def exponential_quantile(scale: float, low: float, high: float) -> Quantile:
    """The inverse of F(x) = (1 - e^(-(x-low)/scale)) / (1 - e^(-(high-low)/scale))."""
    inside = -math.expm1(-(high - low) / scale)
    return lambda u: low - scale * math.log1p(-u * inside)


class Sizes(Protocol):
    """What describes the sizes of transfers."""

    @property
    def sizes(self) -> str:
        """pareto, exponential or list."""

    @property
    def min_bytes(self) -> int:
        """The least there is."""

    @property
    def max_bytes(self) -> int:
        """The most there is."""

    @property
    def mean_bytes(self) -> float:
        """Between these."""

    @property
    def alpha(self) -> float:
        """Of Pareto sizes; 0: as the mean has it."""

    @property
    def list_bytes(self) -> list[Any]:
        """Of a list."""


def sizes(table: str, asked: Sizes) -> tuple[Quantile, float]:
    """The inverse distribution function of the sizes, and their mean in bytes.

    ApbedError names the key of `table`.
    """
    try:
        return _sizes(asked)
    except ApbedError as error:
        raise ApbedError(f"{table}.{error}") from error


def _sizes(workload: Sizes) -> tuple[Quantile, float]:
    low, high = float(workload.min_bytes), float(workload.max_bytes)
    mean = workload.mean_bytes
    if workload.sizes == "list":
        return _listed(workload.list_bytes)
    if not low < high:
        raise ApbedError("max_bytes: expected more than min_bytes")
    if workload.sizes == "exponential":
        return exponential_quantile(exponential_scale(mean, low, high), low, high), mean
    alpha = workload.alpha or pareto_alpha(mean, low, high)
    return pareto_quantile(alpha, low, high), pareto_moment(1, alpha, low, high)


def _listed(listed: list[Any]) -> tuple[Quantile, float]:
    """Each listed size with the same probability."""
    if not listed or any(type(size) is not int or not 0 < size <= 2**40 for size in listed):
        raise ApbedError(
            f"list_bytes = {listed!r}: expected whole numbers of at least 1, "
            "for example [10000, 100000]"
        )
    return lambda u: float(listed[int(u * len(listed))]), sum(listed) / len(listed)


def arrivals(workload: Workload, stations: int, duration_s: float, seed: int) -> tuple[Flow, ...]:
    """The transfers of one run, by start.

    The rate is load_mbps over the mean size of the distribution, not of the sample. Raises
    ApbedError if the keys contradict each other or give more than TRANSFERS_MAX transfers.
    """
    quantile, mean = sizes("workload", workload)
    rate = workload.load_mbps * 1e6 / 8 / mean  # transfers per second
    stop_s = min(workload.stop_s or duration_s, duration_s)
    if rate * stop_s > TRANSFERS_MAX:
        raise ApbedError(
            f"workload: about {rate * stop_s:.0f} transfers; expected at most {TRANSFERS_MAX}, "
            "lower load_mbps or duration_s"
        )
    times, volumes, ways, places = (
        random.Random(f"apbed workload {stream} {seed}")
        for stream in ("times", "sizes", "directions", "stations")
    )
    transfers: list[Flow] = []
    start_s = times.expovariate(rate)
    while start_s < stop_s:
        transfers.append(
            Flow(
                id=f"transfer-{len(transfers) + 1}",
                station=f"sta{int(places.random() * stations) + 1}",
                dir="down" if ways.random() < workload.down_share else "up",
                start_s=round(start_s, 9),
                bytes=round(quantile(volumes.random())),
            )
        )
        start_s += times.expovariate(rate)
    return tuple(transfers)
