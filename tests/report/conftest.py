"""A realistic full report, made up, and a browser to read it in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from voile.report import render
from voile.report.sections import (
    Bar,
    BarChart,
    Bullets,
    Commands,
    Figure,
    Figures,
    FrontierChart,
    Grid,
    Heading,
    IntervalChart,
    LineChart,
    Prose,
    Section,
    Series,
    Strip,
)

FACTS = {
    "release": "sha256 3f1c9a7e52b0d4468c1f0e7793ab25d1880f6c2e4b9d5a1137e6c0842fd9ab56",
    "policy": "policy-412",
    "kit format": "1",
    "voile": "0.1.0",
    "evaluations": "273,430",
}


class Reader:
    """Open reports from disk, keeping every request, message and error of theirs."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.contexts: list[BrowserContext] = []

    def open(self, text: str, *, width: int = 1280, height: int = 900, **context: Any) -> Page:
        file = self.folder / "report with spaces.html"
        file.write_text(text, encoding="utf-8")
        viewport = {"width": width, "height": height}
        self.contexts.append(self.browser.new_context(viewport=viewport, **context))
        page = self.contexts[-1].new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.goto(file.as_uri())
        return page


@pytest.fixture
def reader(chromium: Browser, tmp_path: Path) -> Iterator[Reader]:
    opened = Reader(chromium, tmp_path)
    yield opened
    for context in opened.contexts:
        context.close()


@pytest.fixture(scope="session")
def full_report() -> str:
    return render(
        "A made-up county: visits, 2024", full_sections(), audience="internal", facts=FACTS
    )


@pytest.fixture(scope="session", name="frontier")
def _frontier() -> Callable[..., FrontierChart]:
    return frontier


@pytest.fixture(scope="session", name="policies")
def _policies() -> Callable[..., IntervalChart]:
    return policies


def frontier(points: int = 800) -> FrontierChart:
    """Return a made-up convex frontier between (0.00001, 1) and (0.038, 0)."""
    steps = [i / (points - 1) for i in range(points)]
    risk = tuple(10 ** (-5 + 3.58 * t) for t in steps)
    loss = tuple((1 - t) ** 1.6 for t in steps)
    described = tuple(
        f"policy {i}: {32561 * r:,.1f} expected matches of 32,561, loss {100 * u:.1f}%"
        for i, (r, u) in enumerate(zip(risk, loss, strict=True))
    )
    return FrontierChart(
        risk=risk,
        loss=loss,
        described=described,
        marks=(
            ("Chosen", risk[points // 2], loss[points // 2]),
            ("Safe Harbor", risk[points // 2] * 1.15, loss[points // 2] + 0.09),
            ("k = 11", risk[points // 4], loss[points // 4] + 0.05),
        ),
        risk_name="risk",
        loss_name="loss",
        risk_ends="share of records expected to be matched to their person",
        loss_ends="share of the information removed",
        caption="Each policy is the best for its risk: left is safer, lower keeps more",
    )


def cut(column: str, labels: list[str]) -> Strip:
    """Return a strip whose intervals have uneven, deterministic shares."""
    weights = [1 + (7 * i % 5) for i in range(len(labels))]
    total = sum(weights)
    shares = [w / total for w in weights]
    return Strip(column, tuple(zip(labels, shares, strict=True)))


def ranges(first: int, last: int, parts: int) -> list[str]:
    edges = [first + round(i * (last + 1 - first) / parts) for i in range(parts + 1)]
    return [f"{a}–{b - 1}" if b - 1 > a else str(a) for a, b in pairwise(edges)]


def policies(zip_groups: int = 120) -> IntervalChart:
    """Return three made-up policies over four attributes."""
    races = ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Black", "Other", "White"]
    return IntervalChart(
        policies=(
            (
                "Chosen",
                (
                    cut("age", ranges(0, 90, 12)),
                    cut("sex", ["F", "M"]),
                    cut("race", ["Asian-Pac-Islander to Other", "White"]),
                    cut("zip", ranges(37010, 38589, zip_groups)),
                ),
            ),
            (
                "Safe Harbor",
                (
                    cut("age", ["0–89", "90+"]),
                    cut("sex", ["F", "M"]),
                    cut("race", races),
                    cut("zip", ranges(37010, 38589, 14)),
                ),
            ),
            (
                "k = 11",
                (
                    cut("age", ["0–17", "18–44", "45–64", "65+"]),
                    cut("sex", ["F–M"]),
                    cut("race", races),
                    cut("zip", ["37010–37999", "38000–38589"]),
                ),
            ),
        ),
        caption="Values in one block of colour cannot be told from each other",
    )


def before_and_after() -> BarChart:
    pairs = [
        ("Expected to be matched (mean risk)", 0.0380, 0.0021),
        ("Unique in the population", 0.021, 0.0),
        ("In groups of fewer than 11 people", 0.312, 0.034),
    ]
    groups = tuple(
        (
            name,
            (
                Bar("source", before, before * 0.93, before * 1.07),
                Bar("release", after, after * 0.8, after * 1.2 + 0.002),
            ),
        )
        for name, before, after in pairs
    )
    return BarChart(groups, "share of records", "The same records, before and after")


def claims() -> LineChart:
    x = tuple(float(i * 250) for i in range(13))
    correct = tuple(0.02 + 0.25 * math.exp(-v / 700) for v in x)
    guess = tuple(0.02 + 0.01 * math.exp(-v / 900) for v in x)
    return LineChart(
        (
            Series(
                "with the release",
                x,
                correct,
                tuple(y * 0.8 for y in correct),
                tuple(y * 1.2 for y in correct),
            ),
            Series("guessing within the group", x, guess),
        ),
        x_name="claims made, surest first",
        y_name="share of claims that are correct",
        caption="How often the adversary is right",
    )


def full_sections() -> list[Section]:
    """Return a full-size report; every figure is a fixture, made up and plausible."""
    evidence = ("what was counted", "found", "tried", "share", "95% interval", "baseline")
    return [
        Section(
            "answer",
            "How safe is this release?",
            (
                Figures(
                    (
                        Figure(
                            "People who could be found",
                            "68 of 32,561",
                            "expected, by someone who holds the county's register",
                            "95% interval 51 to 89",
                        ),
                        Figure("Before", "1,236 of 32,561", "in the source, untouched"),
                        Figure(
                            "Information lost",
                            "24%",
                            "of what the four columns tell; Safe Harbor loses 33%",
                        ),
                    )
                ),
                Prose(
                    (
                        "The release keeps age in 12 bands, sex, race in two groups and ZIP code "
                        "in 120 areas. Someone who knows these of a person will, on average, face "
                        "480 people who look the same.",
                        "The policy was chosen by the data steward at Safe Harbor's risk. It beats "
                        "Safe Harbor's generalisation of these columns in both risk and loss.",
                    )
                ),
                Prose(("INTERNAL: seed 7, source rows 32,561.",), audience="internal"),
            ),
            first=True,
        ),
        Section("frontier", "Risk-utility frontier", (frontier(),)),
        Section(
            "policy",
            "What the release keeps apart",
            (
                policies(),
                Grid(
                    ("policy", "expected matches", "loss", "smallest group"),
                    (
                        ("Chosen", "68", "24.1%", "14"),
                        ("Safe Harbor", "79", "33.0%", "11"),
                        ("k = 11", "9", "66.8%", "212"),
                    ),
                    "The named policies",
                    numeric=(1, 2, 3),
                ),
            ),
        ),
        Section("risk", "Risk before and after", (before_and_after(),)),
        Section(
            "evidence",
            "Evidence: attacks on the release",
            (
                Heading("Singling out"),
                Prose(
                    (
                        "The adversary looks for a combination of released values that fits one "
                        "person only.",
                    )
                ),
                Grid(
                    evidence,
                    (
                        ("single person fitted", "0", "2,000", "0%", "0–0.19%", "0%"),
                        ("same, with visit month known", "31", "2,000", "1.6%", "1.1–2.2%", "0.9%"),
                    ),
                    "Attempts to single out one person",
                    numeric=(1, 2, 3, 4, 5),
                ),
                Heading("Linkability"),
                Prose(
                    (
                        "The adversary holds the register of 100,000 people, with ages off by one "
                        "in 5% and moved ZIP codes in 8%, and claims a match above a margin.",
                    )
                ),
                Grid(
                    evidence,
                    (
                        ("correct claims", "13", "2,977", "0.44%", "0.26–0.75%", "0.21%"),
                        ("claims on people absent", "0", "1,000", "0%", "0–0.38%", "–"),
                        ("a planted unique person", "1", "1", "100%", "20.7–100%", "0.2%"),
                    ),
                    "Linking to the register",
                    numeric=(1, 2, 3, 4, 5),
                ),
                claims(),
                Heading("Inference"),
                Grid(
                    evidence,
                    (("diagnosis guessed", "402", "1,500", "26.8%", "24.6–29.1%", "26.1%"),),
                    "Guessing a sensitive value",
                    numeric=(1, 2, 3, 4, 5),
                ),
            ),
        ),
        Section(
            "codebook",
            "Codebook",
            (
                Grid(
                    ("column", "role", "in the release"),
                    (
                        ("patient_id", "identifier", "left out"),
                        ("age", "quasi", "12 bands, 90 and over together"),
                        ("sex", "quasi", "as it was"),
                        ("race", "quasi", "two groups"),
                        ("zip", "quasi", "120 areas of neighbouring codes"),
                        ("diagnosis", "sensitive", "as it was"),
                        ("visit_month", "keep", "month and year"),
                        ("name", "identifier", "left out"),
                    ),
                    "The columns",
                ),
            ),
        ),
        Section(
            "limits",
            "Limits of this protection",
            (
                Bullets(
                    (
                        "Someone who already knows a person's diagnosis and visit month: these "
                        "columns are kept, and 41% of rows are unique once they are known.",
                        "Learning about a group: the release says what is common in an area.",
                        "A second release of the same people under another policy.",
                    )
                ),
            ),
        ),
        Section(
            "reproduce",
            "How to reproduce",
            (
                Commands(
                    (
                        "voile tables fit visits.csv --roles roles.toml --out kit",
                        "voile tables choose kit --beats safe-harbor --out policy.toml",
                        "voile tables apply kit visits.csv --policy policy.toml --out release.csv",
                        "voile verify release.csv",
                    )
                ),
            ),
        ),
    ]
