# SPDX-License-Identifier: GPL-2.0-only
"""The report in headless Chromium: on a phone and on a screen, light and dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from apbed.analysis import page, report, summary
from apbed.analysis.figures import section
from apbed.scenario import parse
from tests.apbed import fabricated_run as fabricated

WIDTHS = {"phone": 390, "screen": 1200}  # CSS pixels
HEIGHT = 900
SMALLEST_PT = 8.5  # of the words in a picture: its legend
READABLE_PX = 8.0
CONTRAST = 4.5  # of text on its ground: WCAG 2.1, 1.4.3
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
FIGURE = """
schema = 1
name = "wide"
title = "A figure of five panels"
duration_s = 10.0
mix = "dl1-ul1"
[medium]
retry = [1, 2, 3, 4, 5]
[ap]
qdisc = ["pfifo limit 50", "pfifo limit 100", "a queue discipline with a long name"]
[[figure]]
id = "T1"
title = "Ratio by queue"
x = "ap.qdisc"
y = "ratio_down_up"
panel = "medium.retry"
"""

# What the page looks like, in CSS pixels.
LOOK = """
const rect = e => { const r = e.getBoundingClientRect();
  return [r.left, r.top + scrollY, r.right, r.bottom + scrollY]; };
const whole = document.documentElement, css = getComputedStyle(document.body);
return {
  wide: whole.scrollWidth, window: innerWidth,
  ink: css.color, ground: css.backgroundColor,
  images: [...document.images].map(i => ({ alt: i.alt, at: rect(i), natural: i.naturalWidth,
    complete: i.complete, seen: rect(i.closest('.scroll') || i) })),
  blocks: [...document.querySelectorAll('main h2, main p, main table, main img, main dl, main pre')]
    .filter(e => e.offsetParent && !e.closest('details:not([open])')
      && !e.parentElement.closest('table, dl, .invalid'))
    .map(e => [e.tagName + ' ' + (e.alt || e.textContent).slice(0, 40),
      rect(e.closest('.scroll') || e)]),
};
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        pytest.skip("no chromedriver: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for one in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(driver))
    yield found
    found.quit()


def of_schedulers(folder: Path) -> Path:
    """Three schedulers, two seeds, one run that is invalid."""
    directory = fabricated.experiment(folder, seeds=(1, 2))
    run = directory / "runs" / "lasack-limit-100-inflight-off_seed-2"
    fabricated.edit(run / "medium.json", integrity={"lost": 3})
    summary.summarize(directory)
    return report.write_report(directory)


def of_transfers(folder: Path) -> Path:
    """Transfers both ways, and a ping's datagrams, under many schedulers with long names."""
    rates = {f"pfifo limit {limit}00 bands {limit}": (0.0, 0.0) for limit in range(1, 8)}
    directory = fabricated.experiment(folder, seeds=(1,), rates=rates)
    for path in directory.glob("runs/*"):
        took: list[tuple[str, int, float | None]] = [
            (way, 20_000, 0.1 * number) for way in ("down", "up") for number in range(1, 9)
        ]
        fabricated.only_transfers(path, took)
        fabricated.add_pulse(path, "call", [[2000, 3000]] * 30)
    summary.summarize(directory)
    return report.write_report(directory)


def of_panels(folder: Path) -> Path:
    """A figure whose panels are too many for one row."""
    path = folder / "wide.toml"
    path.write_text(FIGURE)
    scenario = parse.load(path)
    runs = [
        {"params": one.params, "valid": True, "ratio_down_up": 0.5 + number / 10}
        for number, one in enumerate(scenario.runs)
    ]
    manifest = {"figures": [one.to_json() for one in scenario.figures]}
    html = "\n".join(section.sections(folder, {"runs": runs}, manifest))
    written = folder / "report.html"
    written.write_text(page.document("Five panels", html))
    return written


PAGES = {"schedulers": of_schedulers, "transfers": of_transfers, "panels": of_panels}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", PAGES)
def test_the_report_can_be_read(
    kind: str, width: str, scheme: str, browser: webdriver.Chrome, tmp_path: Path
) -> None:
    size = {"width": WIDTHS[width], "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(PAGES[kind](tmp_path).as_uri())
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
    look = browser.execute_script(LOOK)

    assert look["wide"] <= look["window"], "the page is wider than the screen"
    assert len(look["images"]) >= 2
    for one in look["images"]:
        left, top, right, bottom = one["seen"]
        assert one["complete"] and one["natural"] > 0, f"{one['alt']}: not drawn"
        assert left >= 0 and right <= look["window"] and bottom > top, f"{one['alt']}: not seen"
        shrunk = (one["at"][2] - one["at"][0]) / one["natural"]
        words_px = SMALLEST_PT * 96 / 72 * shrunk
        assert words_px >= READABLE_PX, f"{one['alt']}: words of {words_px:.1f} pixels"
    assert overlaps(look["blocks"]) == []
    ink, ground = luminance(look["ink"]), luminance(look["ground"])
    assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= CONTRAST
    assert (ground < ink) == (scheme == "dark")


def overlaps(blocks: list[tuple[str, list[float]]]) -> list[tuple[str, str]]:
    """The pairs of blocks that share more than a pixel."""
    found = []
    for number, (name, one) in enumerate(blocks):
        for other_name, other in blocks[number + 1 :]:
            across = min(one[2], other[2]) - max(one[0], other[0])
            down = min(one[3], other[3]) - max(one[1], other[1])
            if across > 1 and down > 1:
                found.append((name, other_name))
    return found


def luminance(color: str) -> float:
    """Relative luminance of rgb(R, G, B), 0 to 1: WCAG 2.1."""
    values: list[Any] = color[color.index("(") + 1 : -1].split(",")
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (float(value) / 255 for value in values[:3])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
