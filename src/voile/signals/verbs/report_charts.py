"""The pictures of a report on signals, from evidence alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from voile.core.evidence import Evidence, Finding, Rate
from voile.report.sections import Audience, Bar, BarChart, LineChart, Series
from voile.report.wording import circumstance, is_hidden, share

SENT = {
    "readings as they are": "sent as they are",
    "single messages": "overheard",
    "single messages, columns known": "overheard, columns known",
}
FRESH = "overheard, of people not fitted to"  # people whom the map was not
THOUGHT = "thought beforehand"


def overheard(evidence: Evidence) -> Iterator[LineChart]:
    """Yield for each column what was read, then what is overheard: a curve for each class."""
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
    """Yield how many of each class the best attacker finds, before and after."""
    best, told = _best(evidence)
    if not best:
        return
    rates = [rate for found in told.values() for rate in found.values()]
    groups = tuple(
        (
            f"class {name}",
            tuple(
                Bar(how, found[name].value, *found[name].interval()) for how, found in told.items()
            ),
        )
        for name in next(iter(told.values()))
    )
    yield BarChart(
        groups,
        "share of the class that is found",
        f"Who is found by {best}, each class counting alike: chance is {1 / len(groups):.0%}",
        audience=_audience(rates),
    )


def in_words(evidence: Sequence[Evidence], audience: Audience) -> Iterator[str]:
    """Yield the same as a sentence: means over the classes, but of few people to their holder."""
    best, told = _best(evidence)
    means = [
        f"{share(sum(rate.value for rate in found.values()) / len(found))} {how}"
        for how, found in told.items()
        if audience == "internal" or _audience(found.values()) == "public"
    ]
    if means:
        yield (
            f"The best of the attackers tried, {best}, finds of each class on average: "
            f"{'; '.join(means)}. Chance is {1 / len(next(iter(told.values()))):.0%}."
        )


def _best(evidence: Sequence[Evidence]) -> tuple[str, Mapping[str, Mapping[str, Rate]]]:
    """Return who finds most of what is overheard, and how many of each class in each case."""
    found = {one.attack: _recalls(one) for one in evidence if one.attack in SENT}
    single = {one.attack: one for one in evidence}.get("single messages")
    if single is None:
        return "", {}
    fresh, thought = _recalls(single, "control"), _recalls(single, "baseline")
    after = fresh if any(fresh.values()) else found["single messages"]
    if not after:
        return "", {}
    best = max(after, key=lambda name: sum(rate.value for rate in after[name].values()))
    told: dict[str, Mapping[str, Rate]] = {THOUGHT: thought[best]} if best in thought else {}
    for attack, how in SENT.items():
        if best in found.get(attack, {}):
            told[how] = found[attack][best]
        if attack == "single messages" and fresh.get(best):
            told[FRESH] = fresh[best]
    return best, told


def breaks(evidence: Sequence[Evidence]) -> Iterator[BarChart]:
    """Yield how often each way round the map is right, beside guessing."""
    others = [one for one in evidence if one.attack not in SENT]
    if not others:
        return
    groups = tuple((one.attack, tuple(_bars(one.findings))) for one in others)
    rates = [finding.rate for one in others for finding in one.findings]
    yield BarChart(
        groups,
        "share of people whose class is found",
        "Ways round the map",
        audience=_audience(rates),
    )


def _bars(findings: Sequence[Finding]) -> Iterator[Bar]:
    for finding in findings:
        yield _bar(circumstance(finding, "internal") or "found", finding.rate)
        if finding.baseline is not None:
            yield _bar("guessed", finding.baseline)


def _bar(label: str, rate: Rate) -> Bar:
    return Bar(label, rate.value, *rate.interval())


def _recalls(evidence: Evidence, of: str = "rate") -> dict[str, dict[str, Rate]]:
    """Return by attacker and class how many are found; or of the control, or the baseline."""
    found: dict[str, dict[str, Rate]] = {}
    for finding in evidence.findings:
        rate = getattr(finding, of)
        if finding.of and rate is not None:
            found.setdefault(finding.by, {})[finding.of] = rate
    return found


def _audience(rates: Iterable[Rate]) -> Audience:
    """Return who is shown these rates: a part of few is its holder's."""
    return "internal" if any(is_hidden(rate, "public") for rate in rates) else "public"
