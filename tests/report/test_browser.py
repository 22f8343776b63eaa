"""The report as people meet it: with a keyboard, a phone, a printer, or without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from voile.report import render
from voile.report.sections import (
    CHOSEN,
    Detail,
    FrontierChart,
    Grid,
    IntervalChart,
    Prose,
    Section,
    Strip,
)

pytestmark = [pytest.mark.browser, pytest.mark.whole]

NASTY = """<script>window.hacked=1</script>"><img src=x onerror='window.hacked=1'>"""
FOCUSED = "document.activeElement.closest('.canvas') !== null"


@pytest.fixture
def stepped() -> FrontierChart:
    """Return two policies, out of order, and the chosen one between them, with their details."""
    halves, whole = ("0-40", 0.45), ("0-90", 1.0)
    return FrontierChart(
        (0.3, 0.1),
        (0.1, 0.5),
        ("policy 0: risk 30%", "policy 1: risk 10%"),
        ((CHOSEN, 0.2, 0.3),),
        "risk",
        "loss",
        details=(
            Detail((("passes", "2"),)),
            Detail((("passes", "1"),), (Strip("age", (halves, ("41-90", 0.55))),)),
            Detail((("passes", "3"),), (Strip("age", (whole,)),)),
        ),
    )


def enter_chart(page: Page) -> None:
    """Press Tab until the focus is in the frontier, as a reader would."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED):
            return
    raise AssertionError("Tab never enters the chart")


def said(page: Page) -> str:
    return str(page.locator(".says").inner_text())


def test_the_page_asks_for_nothing_but_itself(reader: Any, full_report: str) -> None:
    page = reader.open(full_report)
    page.get_by_role("radio", name="linear").check()
    page.mouse.wheel(0, 5000)
    page.wait_for_load_state("networkidle")
    assert reader.requests == [page.url]
    assert reader.messages == []


def test_the_keyboard_reaches_every_policy_and_every_mark(
    reader: Any, frontier: Callable[..., FrontierChart]
) -> None:
    chart = frontier(200)
    page = reader.open(render("T", [Section("a", "A", (chart,))], audience="internal", facts={}))
    enter_chart(page)
    heard = [said(page)]
    for _ in range(len(chart.risk) + len(chart.marks) - 1):
        page.keyboard.press("ArrowRight")
        heard.append(page.evaluate("document.querySelector('.says').textContent"))
    assert set(chart.described) <= set(heard)
    for name, _, _ in chart.marks:
        assert [h for h in heard if h.startswith(f"{name}: risk ")]
    assert len(set(heard)) == len(chart.risk) + len(chart.marks)
    page.keyboard.press("ArrowRight")
    assert said(page) == heard[-1]


def test_keys_jump_to_the_ends_and_to_the_marks(reader: Any, full_report: str) -> None:
    page = reader.open(full_report)
    enter_chart(page)
    heard = []
    for key in ("End", "Home", "PageDown", "PageDown", "PageDown", "PageUp", "ArrowLeft"):
        page.keyboard.press(key)
        heard.append(said(page).split(":")[0])
    marks = ["k = 11", "Chosen", "Safe Harbor", "Chosen"]
    assert heard[:-1] == ["policy 799", "policy 0", *marks]
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").endswith(" of 803")


def known(page: Page) -> list[str]:
    return [line for line in page.locator(".detail").inner_text().split("\n") if line]


def test_stepping_shows_what_is_known_of_a_policy(reader: Any, stepped: FrontierChart) -> None:
    page = reader.open(render("T", [Section("a", "A", (stepped,))], audience="internal", facts={}))
    assert known(page)[0] == CHOSEN
    enter_chart(page)
    assert known(page) == ["policy 1", "passes", "1", "age: 2 intervals", "0-40   41-90"]
    page.keyboard.press("ArrowRight")
    assert known(page) == [CHOSEN, "passes", "3", "age: 1 interval", "0-90"]
    page.keyboard.press("ArrowRight")
    assert known(page) == ["policy 0", "passes", "2"]
    assert reader.requests == [page.url]
    assert reader.messages == []


def test_the_pointer_shows_a_policy_while_it_is_there(reader: Any, stepped: FrontierChart) -> None:
    page = reader.open(render("T", [Section("a", "A", (stepped,))], audience="internal", facts={}))
    spot = page.locator(".plot[data-scale=log] circle").last
    spot.scroll_into_view_if_needed()
    spot.hover(force=True)
    assert known(page)[0] == "policy 0"
    page.mouse.move(5, 5)
    assert known(page)[0] == "policy 1"


def test_the_public_steps_on_named_policies_alone(reader: Any, stepped: FrontierChart) -> None:
    text = render("T", [Section("a", "A", (stepped,))], audience="public", facts={})
    assert "41-90" not in text
    page = reader.open(text)
    assert known(page) == [CHOSEN, "passes", "3", "age: 1 interval", "0-90"]
    enter_chart(page)
    assert known(page) == ["risk 10% or less: loss 50% at most"]


def test_one_tab_enters_the_chart_and_one_leaves_it(reader: Any, full_report: str) -> None:
    page = reader.open(full_report)
    enter_chart(page)
    assert page.locator(".says").is_visible()
    page.keyboard.press("Tab")
    assert not page.evaluate(FOCUSED)
    assert said(page) == ""


def test_the_focused_policy_can_be_seen(reader: Any, full_report: str) -> None:
    page = reader.open(full_report)
    enter_chart(page)
    width = "getComputedStyle(document.activeElement.querySelector('.mark') ?? "
    width += "document.activeElement).strokeWidth"
    assert float(page.evaluate(width).removesuffix("px")) >= 6
    page.keyboard.press("PageDown")
    assert float(page.evaluate(width).removesuffix("px")) >= 3


def test_the_pointer_finds_the_nearest_policy(reader: Any, full_report: str) -> None:
    page = reader.open(full_report)
    mark = page.locator(".plot[data-scale=log] .named").first
    mark.scroll_into_view_if_needed()
    box = mark.locator(".mark").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert said(page)
    page.mouse.move(5, 5)
    assert said(page) == ""


def test_the_risk_axis_switches_and_keeps_the_place(reader: Any, full_report: str) -> None:
    page = reader.open(full_report)
    linear, log = (page.locator(f".plot[data-scale={s}]") for s in ("linear", "log"))
    assert log.is_visible()
    assert not linear.is_visible()
    enter_chart(page)
    page.keyboard.press("PageDown")
    here = said(page)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    assert linear.is_visible()
    assert not log.is_visible()
    page.keyboard.press("Tab")
    assert said(page) == here


def test_without_scripts_both_axes_are_shown(reader: Any, full_report: str) -> None:
    page = reader.open(full_report, java_script_enabled=False)
    for scale in ("linear", "log"):
        assert page.locator(f".plot[data-scale={scale}]").is_visible()
    assert not page.locator(".switch").is_visible()
    assert page.locator(".plot[data-scale=linear] .stop > title").count() == 803


@pytest.mark.parametrize(("width", "scheme"), [(375, "dark"), (1280, "light")])
def test_no_accessibility_fault(reader: Any, full_report: str, width: int, scheme: str) -> None:
    page = reader.open(full_report, width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    enter_chart(page)
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in violations] == []


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_nothing_overflows(reader: Any, full_report: str, width: int) -> None:
    page = reader.open(full_report, width=width)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """(width) => [...document.querySelectorAll("body *")]
            .filter((e) => !e.closest(".scroll, .unseen, .skip"))
            .filter((e) => e.getBoundingClientRect().right > width + 0.5)
            .map((e) => e.outerHTML.slice(0, 80))""",
        width,
    )
    assert outside == []


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scale", ["linear", "logarithmic"])
def test_no_label_covers_another(reader: Any, full_report: str, width: int, scale: str) -> None:
    page = reader.open(full_report, width=width)
    page.get_by_role("radio", name=scale).check()
    covered = page.evaluate(
        """() => [...document.querySelectorAll("svg.canvas, svg.strip, svg.ends, tfoot svg")]
            .flatMap((svg) => {
              const texts = [...svg.querySelectorAll("text")].filter((t) => t.getClientRects()[0]);
              const boxes = texts.map((t) => t.getBoundingClientRect());
              return boxes.flatMap((a, i) => boxes.slice(i + 1).flatMap((b, j) =>
                a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1
                  ? [[texts[i].textContent, texts[i + 1 + j].textContent]] : []));
            })"""
    )
    assert covered == []


def test_it_prints_on_at_most_six_pages(reader: Any, full_report: str, tmp_path: Path) -> None:
    page = reader.open(full_report)
    page.pdf(path=tmp_path / "report.pdf", format="A4", prefer_css_page_size=True)
    pages = re.findall(rb"/Type\s*/Page\b", (tmp_path / "report.pdf").read_bytes())
    assert 1 <= len(pages) <= 6


def test_paper_shows_one_axis_and_the_released_intervals_in_full(
    reader: Any, full_report: str
) -> None:
    page = reader.open(full_report)
    page.get_by_role("radio", name="linear").check()
    page.emulate_media(media="print")
    assert page.locator(".plot[data-scale=log]").is_visible()
    for hidden in (".plot[data-scale=linear]", ".switch", "nav", ".keys"):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator(".listing.printed").last.bounding_box()["height"] > 20
    assert not page.locator(".listing:not(.printed)").first.is_visible()


def test_what_a_column_is_called_runs_nothing(reader: Any) -> None:
    chart = FrontierChart(
        (0.1, 0.2), (0.2, 0.1), (NASTY, NASTY), ((NASTY, 0.1, 0.2),), NASTY, NASTY, NASTY
    )
    blocks = (Prose((NASTY,)), Grid((NASTY,), ((NASTY,),), NASTY), chart)
    page = reader.open(
        render(NASTY, [Section("a", NASTY, blocks)], audience="public", facts={NASTY: NASTY})
    )
    enter_chart(page)
    assert said(page) in (NASTY, f"{NASTY}: {NASTY} 10%, {NASTY} 20%")
    assert page.evaluate("window.hacked") is None
    assert page.title() == NASTY
    assert reader.requests == [page.url]
    assert reader.messages == []


def test_thousands_of_policies_stay_light(
    reader: Any, frontier: Callable[..., FrontierChart], policies: Callable[..., IntervalChart]
) -> None:
    blocks = (frontier(5000), policies(600))
    page = reader.open(
        render("Large", [Section("a", "A", blocks)], audience="internal", facts={}), width=375
    )
    enter_chart(page)
    page.keyboard.press("End")
    assert said(page).startswith("policy 4999")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
