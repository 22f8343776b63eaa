"""Write numbers for people, in the same way for every kind of data.

A public report shows no count of 1 to 10, and no share from which such a count would follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from voile.core.evidence import Count, Finding, Note, Rate, Value, difference
from voile.core.rounding import StatingRules, exact, outwards, round_number
from voile.report.sections import Audience
from voile.report.suppression import FEW, is_few

TOO_FEW = "too few cases to show"
_SIZES = StatingRules(people=frozenset({"size"}))
_ZEROS = re.compile(r"\.?0+(?=%?$)")


def join_names(names: Sequence[str]) -> str:
    """Join one or more names with commas and "and".

    >>> join_names(["age", "sex", "race"])
    'age, sex and race'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def share(value: float) -> str:
    """Write a share as a percentage with about two significant digits.

    >>> [share(x) for x in (0.0, 0.00012, 0.0384, 0.0997, 0.5, 1.0)]
    ['0%', '0.012%', '3.8%', '10%', '50%', '100%']
    """
    percent = 100 * value
    if percent >= 9.95:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 1 else f"{percent:.2g}%"


def odds(risk: float) -> str:
    """Write a risk as "1 in n" with the two digits of a public share.

    >>> [odds(x) for x in (0.00012, 0.017, 0.05, 0.091, 0.4)]
    ['1 in 8,300', '1 in 59', '1 in 20', '1 in 11', '1 in 2.5']
    """
    many = float(f"{1 / risk:.2g}")
    return f"1 in {many:,.0f}" if many >= 10 else f"1 in {many:g}"


def share_and_odds(value: float) -> str:
    """Write the risk of a person or record as a share, with "1 in n" up to 50%.

    >>> [share_and_odds(x) for x in (0.0, 0.017, 0.09, 0.5, 1.0)]
    ['0%', '1.7% (1 in 59)', '9.0% (1 in 11)', '50% (1 in 2)', '100%']
    """
    return f"{share(value)} ({odds(value)})" if 0 < value <= 0.5 else share(value)


def needs_suppression(value: float, whole: float, audience: Audience) -> bool:
    """Return whether a share of `whole` reveals a number from 1 to 10 to a public reader.

    The share before public rounding decides.

    >>> [needs_suppression(0.0003, 32_561, audience) for audience in ("public", "internal")]
    [True, False]
    """
    return audience == "public" and is_few(exact(value) * whole)


def rest_needs_suppression(value: float, whole: float, audience: Audience) -> bool:
    """Return whether a share of `whole` reveals that only 1 to 10 are outside it.

    >>> [rest_needs_suppression(share, 200, "public") for share in (0.9, 0.98, 1.0)]
    [False, True, False]
    """
    return needs_suppression(1 - exact(value), whole, audience)


def share_of(value: float, whole: float, audience: Audience) -> str:
    """Write a share of `whole`.

    A public report shows no share that leaves 1 to 10 inside or outside.

    >>> share_of(0.0001, 32_561, "public"), share_of(0.002, 32_561, "public")
    ('under 0.034%', '0.2%')
    >>> share_of(0.98, 200, "public"), share_of(1.0, 200, "public")
    ('over 94%', '100%')
    """
    if needs_suppression(value, whole, audience):
        return f"under {share(min(FEW / whole, 1.0))}"
    if rest_needs_suppression(value, whole, audience):
        return f"over {share(max(1 - FEW / whole, 0.0))}"
    return share(value)


def is_hidden(found: Rate | None, audience: Audience) -> bool:
    """Return whether a public report hides a rate, because its successes or failures are few.

    >>> [is_hidden(Rate(x, 100), "public") for x in (0, 3, 50, 97, 100)]
    [False, True, False, True, False]
    """
    return (
        found is not None
        and audience == "public"
        and any(map(is_few, (found.successes, found.trials - found.successes)))
    )


def rate(found: Rate | None, audience: Audience) -> str:
    """Write a rate with its interval and its counts.

    >>> rate(Rate(50, 100), "public"), rate(Rate(0, 0), "public"), rate(None, "public")
    ('50% (40% to 60%), 50 of 100', 'no cases', '–')
    >>> rate(Rate(3, 100), "public"), rate(Rate(97, 100), "public"), rate(Rate(3, 9), "public")
    ('at most 17%', 'at least 83%', 'too few cases to show')
    >>> rate(Rate(621, 1234), "internal"), rate(Rate(621, 1234), "public")
    ('50% (48% to 53%), 621 of 1,234', '51% (47% to 54%), 620 of 1,200')
    """
    if found is None:
        return "–"
    if found.trials == 0:
        return "no cases"
    value, interval = estimate(found, audience)
    hits, trials = (_digits(number, audience) for number in (found.successes, found.trials))
    return f"{value} ({interval}), {hits:,} of {trials:,}" if interval else value


def _digits(value: float, audience: Audience) -> float:
    return round_number(value) if audience == "public" else value


def estimate(found: Rate, audience: Audience) -> tuple[str, str]:
    """Write the share of a rate with at least one trial, and its interval.

    The public gets two digits, as in a manifest. The share and the upper end of the interval are
    rounded up, and the lower end down. Rounding one share in two ways would reveal a further digit.

    If successes or failures are few, the public gets only a bound that is valid for each small
    count. It is the end of the interval for 10 successes, with the largest design effect. So it
    follows from numbers that are shown.

    >>> estimate(Rate(50, 100), "public"), estimate(Rate(3, 100), "public")
    (('50%', '40% to 60%'), ('at most 17%', ''))
    >>> estimate(Rate(0, 100), "public")
    ('0%', '0% to 3.7%')
    """
    if not is_hidden(found, audience):
        value, (low, high) = found.value, found.interval()
        if audience == "public":
            value, low, high = (
                round_number(value, "up"),
                round_number(low, "down"),
                round_number(high, "up"),
            )
        return share(value), f"{share(low)} to {share(high)}"
    if is_few(found.trials):
        return TOO_FEW, ""
    most = _of_few(found)
    if is_few(found.successes):
        return f"at most {share(most)}", ""
    return f"at least {share(1 - most)}", ""


def _of_few(found: Rate) -> float:
    """Return the interval's upper end for 10 successes."""
    deff = found.trials / found.clusters if found.clusters else 1.0
    return Rate(FEW - 1, found.trials, found.clusters, deff).interval()[1]


def upper_bound(found: Rate, audience: Audience) -> float:
    """Return the largest share that a rate may have, as far as a reader can see.

    >>> [f"{upper_bound(Rate(n, 100), 'public'):.3f}" for n in (0, 3, 50)]
    ['0.037', '0.174', '0.596']
    >>> upper_bound(Rate(2, 5), "public")
    1.0
    """
    if audience == "public" and is_few(found.trials):
        return 1.0
    few = is_hidden(found, audience) and is_few(found.successes)
    return _of_few(found) if few else found.interval()[1]


def advantage(found: Rate, control: Rate | None, audience: Audience) -> str:
    """Write how much more often an attack is right about released people than about others."""
    if control is None or not (found.trials and control.trials):
        return "Without a control group this cannot be distinguished from knowledge about groups."
    if is_hidden(found, audience) or is_hidden(control, audience):
        return "The advantage over people who were never released is withheld: it follows from few."
    value, low, high = (_digits(100 * x, audience) for x in difference(found, control))
    return (
        f"Advantage over people who were never released: {_points(value)} percentage points "
        f"(95% interval {_points(low)} to {_points(high)})."
    )


def _points(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"


def format_count(count: Count, audience: Audience) -> str:
    """Write a count, with its total if it has one.

    >>> [format_count(Count(4), audience) for audience in ("internal", "public")]
    ['4', 'fewer than 11']
    >>> [format_count(Count(x, 1200), "public") for x in (4, 40, 1196, 1200)]
    ['fewer than 11 of 1,200', '40 of 1,200', 'all but fewer than 11 of 1,200', '1,200 of 1,200']
    >>> format_count(Count(1234), "public")
    '1,200'
    """
    whole = count.value if count.whole is None else count.whole
    rest = "" if count.whole is None else f" of {_digits(whole, audience):,}"
    if audience == "public" and is_few(whole):
        return f"fewer than {FEW}"
    if audience == "public" and is_few(count.value):
        return f"fewer than {FEW}{rest}"
    if audience == "public" and is_few(whole - count.value):
        return f"all but fewer than {FEW}{rest}"
    return f"{_digits(count.value, audience):,}{rest}"


def size(count: float, audience: Audience) -> str:
    """Write the number of people or documents of a source.

    For the public, it is rounded to tens or more. The exact number, less the countable people of a
    release, would reveal how many people were suppressed or rejected.

    >>> [size(x, "public") for x in (4, 87, 1234)], size(87, "internal")
    (['fewer than 11', 'up to 90', '1,200'], '87')
    """
    if audience == "public" and is_few(count):
        return f"fewer than {FEW}"
    if audience == "public":
        return f"{'up to ' * (count < 100)}{_SIZES(count, 'size'):,.0f}"
    return f"{count:,.0f}"


def format_note(note: Note, audience: Audience) -> str:
    """Write a note. A public reader sees no count of 1 to 10.

    >>> note = Note("Cut off after examining {tokens} tokens.", {"tokens": Count(4)})
    >>> format_note(note, "internal"), format_note(note, "public")
    ('Cut off after examining 4 tokens.', 'Cut off after examining fewer than 11 tokens.')
    """
    values = {name: _format_value(value, name, audience) for name, value in note.values.items()}
    return note.text.format(**values)


def _format_value(value: Value, name: str, audience: Audience) -> Value:
    if isinstance(value, Count):
        return format_count(value, audience)
    if isinstance(value, float):
        return _NoteNumber(outwards(value, name) if audience == "public" else value)
    return value


class _NoteNumber(float):
    """A number that a note shows without trailing zeros, because they were not measured."""

    def __format__(self, form: str) -> str:
        return without_zeros(super().__format__(form))


def without_zeros(written: str) -> str:
    """Remove the trailing zeros of a decimal fraction, because they claim digits that are unknown.

    >>> [without_zeros(x) for x in ("0.180", "94.0%", "1.000", "0.107", "1,200", "0.0")]
    ['0.18', '94%', '1', '0.107', '1,200', '0']
    """
    return _ZEROS.sub("", written) if "." in written else written


def name_of(finding: Finding, audience: Audience) -> str:
    """Return the name of a finding: its attacker, quantity, part and condition.

    >>> name_of(Finding("found", Rate(3, 9), by="forest", of="yes"), "internal")
    'forest: found, yes'
    """
    by = f"{finding.by}: " if finding.by else ""
    return by + ", ".join(filter(None, (finding.quantity, circumstance(finding, audience))))


def circumstance(finding: Finding, audience: Audience) -> str:
    """Return the name of the part that a finding counts, and its condition.

    >>> at = Note("{inspections} inspections", {"inspections": Count(1200)})
    >>> circumstance(Finding("identifiers found", Rate(3, 9), of="NAME", at=at), "public")
    'NAME, 1,200 inspections'
    """
    at = format_note(finding.at, audience) if finding.at is not None else ""
    return ", ".join(filter(None, (finding.part, at)))


def format_people(count: float, audience: Audience) -> str:
    """Format a count of people; a public report gives no number from 1 to 10.

    >>> format_people(3, "public"), format_people(3, "internal"), format_people(1234, "public")
    ('fewer than 11', '3', '1,234')
    """
    if audience == "public" and is_few(count):
        return f"fewer than {FEW}"
    return f"{count:,.0f}"
