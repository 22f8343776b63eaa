"""The charts of a report on signals, drawn from evidence only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from voile.core.evidence import Evidence, Finding, Rate
from voile.report.sections import Audience, Bar, BarChart, LineChart, Series
from voile.report.wording import circumstance, is_hidden, join_names, share

SINGLE = "single messages"
COLUMNS_KNOWN = "single messages, columns known"
SENT = {
    "readings as they are": "from the unprotected reading",
    SINGLE: "from one message",
    COLUMNS_KNOWN: "from one message and the known columns",
}
FRESH = "person not in the fit"
BELIEVED = "from prior beliefs alone"


def overheard(evidence: Evidence) -> Iterator[LineChart]:
    """Yield for each column a chart of the readings, then of the messages, by class."""
    for what in dict.fromkeys(curve.x_name for curve in evidence.curves):
        lines = [curve for curve in evidence.curves if curve.x_name == what]
        yield LineChart(
            tuple(Series(f"class {c.name}", c.x, c.y) for c in lines),
            what,
            "share of the class's readings per unit",
            f"{what}, by class",
            audience="internal",
        )


def recall(evidence: Sequence[Evidence]) -> Iterator[BarChart]:
    """Yield a chart of the share of each class that the strongest attacker identifies."""
    best, cases = _strongest(evidence)
    if not best:
        return
    groups = tuple(
        (f"class {name}", tuple(_bar(how, found[name]) for how, found in cases.items()))
        for name in next(iter(cases.values()))
    )
    yield BarChart(
        groups,
        "share of the class that is identified",
        f"Share of each class that {best} identifies; guessing identifies {1 / len(groups):.0%}",
        audience=_audience(rate for found in cases.values() for rate in found.values()),
    )


def in_words(evidence: Sequence[Evidence], audience: Audience) -> Iterator[str]:
    """Yield the same rates as a sentence, averaged over the classes.

    Rates of few people appear in internal reports only.
    """
    best, cases = _strongest(evidence)
    means = [
        f"{share(sum(rate.value for rate in found.values()) / len(found))} of people {how}"
        for how, found in cases.items()
        if audience == "internal" or _audience(found.values()) == "public"
    ]
    if means:
        yield (
            f"The strongest adversary tried ({best}) identifies the class of {join_names(means)}, "
            "averaged over the classes; guessing identifies "
            f"{1 / len(next(iter(cases.values()))):.0%}."
        )


def _strongest(evidence: Sequence[Evidence]) -> tuple[str, Mapping[str, Mapping[str, Rate]]]:
    """Return the strongest attacker, and its rate for each class in each case.

    If there are known columns, it is the best attacker with them. People outside the map's fit
    decide, if there are any.
    """
    attacks = {one.attack: one for one in evidence if one.attack in SENT}
    last = attacks.get(COLUMNS_KNOWN) or attacks.get(SINGLE)
    if last is None or SINGLE not in attacks:
        return "", {}
    after = _recalls(last, "control") or _recalls(last)
    if not after:
        return "", {}
    best = max(after, key=lambda name: sum(rate.value for rate in after[name].values()))
    cases = {BELIEVED: _recalls(attacks[SINGLE], "baseline").get(best, {})}
    for attack in (name for name in SENT if name in attacks):
        cases[SENT[attack]] = _recalls(attacks[attack]).get(best, {})
        cases[f"{SENT[attack]}, {FRESH}"] = _recalls(attacks[attack], "control").get(best, {})
    return best, {how: rates for how, rates in cases.items() if rates}


def breaks(evidence: Sequence[Evidence]) -> Iterator[BarChart]:
    """Yield a chart of the success of each attack that bypasses the map, compared with guessing."""
    others = [one for one in evidence if one.attack not in SENT]
    if not others:
        return
    groups = tuple((one.attack, tuple(_bars(one.findings))) for one in others)
    rates = [finding.rate for one in others for finding in one.findings]
    yield BarChart(
        groups,
        "share of people whose class is identified",
        "Attacks that bypass the map",
        audience=_audience(rates),
    )


def _bars(findings: Sequence[Finding]) -> Iterator[Bar]:
    for finding in findings:
        yield _bar(circumstance(finding, "internal") or "attack", finding.rate)
        if finding.baseline is not None:
            yield _bar("guessing", finding.baseline)


def _bar(label: str, rate: Rate) -> Bar:
    return Bar(label, rate.value, *rate.interval())


def _recalls(evidence: Evidence, of: str = "rate") -> dict[str, dict[str, Rate]]:
    """Return the rates by attacker and class: of the attack, its control or its baseline."""
    found: dict[str, dict[str, Rate]] = {}
    for finding in evidence.findings:
        rate = getattr(finding, of)
        if finding.of and rate is not None:
            found.setdefault(finding.by, {})[finding.of] = rate
    return found


def _audience(rates: Iterable[Rate]) -> Audience:
    return "internal" if any(is_hidden(rate, "public") for rate in rates) else "public"
