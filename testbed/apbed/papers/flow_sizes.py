# SPDX-License-Identifier: GPL-2.0-only
"""layer2-layer3's two distributions of transfer sizes, eqs. 1 and 2, between 6 and 13,000 segments.

Principle: both are truncated by conditioning, as apbed.scenario.workload draws them, and their one
free parameter is the one that gives the mean. Sizes are segments of 1500 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, log, sqrt

from scipy.integrate import quad

from apbed.scenario.workload import (
    exponential_mean,
    exponential_scale,
    pareto_alpha,
    pareto_moment,
)

LEAST, MOST, MEAN = 6, 13_000, 40


@dataclass(frozen=True)
class Point:
    """A distribution at one size."""

    below: float  # F(x)
    bytes_below: float  # share of all bytes that transfers of at most x have
    density: float  # f(x), per segment
    variation: float  # coefficient of variation of the whole distribution
    parameter: float  # alpha of Pareto sizes; 1 / mu of exponential ones, in segments


def pareto(size: float, mean: float = MEAN, least: float = LEAST, most: float = MOST) -> Point:
    """Eq. 1 at `size` segments."""
    alpha = pareto_alpha(mean, least, most)
    inside = -expm1(-alpha * log(most / least))
    below = -expm1(-alpha * log(size / least)) / inside if size > least else 0.0
    carried = pareto_moment(1, alpha, least, size) * below / mean if below else 0.0
    variance = pareto_moment(2, alpha, least, most) - mean**2
    density = alpha * least**alpha * size ** (-alpha - 1) / inside
    return Point(below, carried, density, sqrt(variance) / mean, alpha)


def exponential(size: float, mean: float = MEAN, least: float = LEAST, most: float = MOST) -> Point:
    """Eq. 2 at `size` segments."""
    scale = exponential_scale(mean, least, most)
    inside = -expm1(-(most - least) / scale)
    below = -expm1(-(size - least) / scale) / inside
    carried = exponential_mean(scale, least, size) * below / mean if below else 0.0
    # Beyond 50 scales nothing is left, and the integral would miss what there is.
    end = min(most, least + 50 * scale)
    second, _ = quad(lambda x: x * x * exp(-(x - least) / scale) / scale / inside, least, end)
    density = exp(-(size - least) / scale) / scale / inside
    return Point(below, carried, density, sqrt(second - mean**2) / mean, scale)
