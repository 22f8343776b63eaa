"""The sections of a report on signals, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voile.core.evidence import Evidence
from voile.core.evidence import Heading as Question
from voile.core.rounding import coarse, outwards
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.shown import facts_for
from voile.report import sections as page
from voile.report.evidence_sections import evidence_sections
from voile.report.wording import join_names, share, size, without_zeros
from voile.signals.information.leakage import CONSISTENCY, UNTRIED
from voile.signals.model.withheld import describe_withheld
from voile.signals.options import AXES
from voile.signals.verbs.report_charts import breaks, in_words, overheard, recall
from voile.signals.verbs.report_data import STATING, report_data

RISK = AXES["risk"], "100% = a message reveals as much of the class as the reading"
LOSS = AXES["loss"], "100% = the strongest, most distorting map"
LIMITS = (
    "An adversary who knows one reading and its message finds the class. With the class, anyone "
    "decodes everything. The map complements encryption, and does not replace it.",
    f"Not tried: {UNTRIED}.",
    "Several messages of one person, sent one by one, gradually reveal the class. Constants "
    "such as height reveal it at once. Send them in sessions.",
    "Together with a message, kept columns or columns known from elsewhere can reveal the class. "
    "The map prevents this only for columns that it was given (role known).",
    "The map does not hide whether and how often a person sends readings, or which are absent.",
    "A reading beyond those of the fit is sent exactly, but may be rarer in one "
    "class than in another.",
)
TAKES: dict[Question, str] = {"inference": "the source, with its classes (--original)"}
"""The data that the attack on each question needs."""


def sections(
    subject: StoredKit | StoredRelease, evidence: Sequence[Evidence], *, audience: page.Audience
) -> tuple[page.Section, ...]:
    """Return the report's sections on a kit or on a release.

    A public report contains no law of a class's readings, and no count of people below 11.
    """
    story, public, private = facts_for(audience, subject, _gather_data, STATING)
    parts = [
        _summary(story, public, private, evidence, audience),
        *evidence_sections(
            [replace(one, curves=()) for one in evidence],
            audience,
            first={"inference": (*recall(evidence), *breaks(evidence))},
            takes=TAKES if public else None,
        ),
        _overheard(evidence) if audience == "internal" else None,
        page.codebook(public["columns"]) if public else None,
        _frontier(story),
        _kit(story),
        page.limits(LIMITS),
    ]
    return tuple(part for part in parts if part is not None)


def _gather_data(kit: StoredKit) -> dict[str, Any]:
    from voile.signals.model.content import SignalsContent

    return report_data(SignalsContent.of(kit), None, None)


def _summary(
    story: Mapping[str, Any],
    public: Mapping[str, Any],
    private: Mapping[str, Any],
    evidence: Sequence[Evidence],
    audience: page.Audience,
) -> page.Section:
    blocks: list[Any] = []
    if public:
        blocks += [page.Prose(said)] if (said := tuple(in_words(evidence, audience))) else []
        blocks.append(page.Figures(tuple(_figures(public, story, private, evidence, audience))))
        blocks.append(page.Prose((_describe_encoding(public),)))
    elif fitted := story.get("consistency", {}):
        blocks.append(
            page.Figures(
                tuple(
                    _show_consistency(
                        found,
                        f"by the {method} map at strength 1, on held-out people of the fit",
                        audience,
                    )
                    for method, found in fitted.items()
                )
            )
        )
    if withheld := tuple(_describe_withheld(story, public, audience)):
        blocks.append(page.Prose(withheld))
    if story:
        blocks.append(page.Prose((_describe_unprotected(story, audience),)))
    return page.Section("summary", "In short", tuple(blocks), first=True)


def _figures(
    public: Mapping[str, Any],
    story: Mapping[str, Any],
    private: Mapping[str, Any],
    evidence: Sequence[Evidence],
    audience: page.Audience,
) -> Iterator[page.Figure]:
    expected = public["figures"]
    if consistent := _consistency(story, public, evidence, audience):
        yield consistent
    known = {*story["before"].get("known", ())} if story else set()
    fit = (
        f"; the fit predicted {_bits(expected)} ({_within(expected)})" if "bits" in expected else ""
    )
    own: Mapping[str, Any] = {}  # measured for the adversary that the fit's figures assume
    for columns, found in _list_leakage(evidence, audience):
        is_own = {*columns} == known
        own = found if is_own else own
        meaning = "per message, measured on this release"
        if columns:
            meaning = f"per message, to an adversary who knows {join_names(columns)}; measured"
        yield _leakage(found, f"{meaning}{fit if is_own else ''}", columns)
    if "bits" in expected:
        if not own:
            before = story.get("before", {})
            most = f", of {_decimal(before['entropy'])} that the class holds" if story else ""
            meaning = f"per message{_to_whom(before)}, predicted by the fit{most}"
            yield _leakage(expected, meaning, known)
        yield _risk(expected, story, own)
        meaning = (
            "error for a reader without the key, predicted by the fit; 100% is that of the "
            "strongest, most distorting map"
        )
        yield page.Figure("Distortion", share(expected["loss"]), meaning)
    if private:
        yield page.Figure(
            "Decoded exactly",
            f"{private['figures']['decoded']:,.0f}",
            "rows: every row written was decoded again and compared, to the last bit",
        )


def _consistency(
    story: Mapping[str, Any],
    public: Mapping[str, Any],
    evidence: Sequence[Evidence],
    audience: page.Audience,
) -> page.Figure | None:
    """Return the success of the consistency attack, as a figure."""
    notes = [note for one in evidence for note in one.notes if note.by == CONSISTENCY]
    measured = [note.values for note in notes if "permuted" in note.values]
    fitted = story.get("consistency", {}).get(public["policy"]["method"]) if story else None
    if not (measured or fitted) or not public["policy"]["strength"]:
        return None
    found: Mapping[str, Any] = measured[-1] if measured else fitted or {}
    how = "measured on this release" if measured else "on held-out people of the fit"
    return _show_consistency(found, how, audience)


def _show_consistency(found: Mapping[str, Any], how: str, audience: page.Audience) -> page.Figure:
    if audience == "public":
        found = coarse(found, outwards)
    return page.Figure(
        "Class inferred by consistency",
        f"at least {share(found['balanced'])}",
        "balanced accuracy of an adversary who decodes each message under every class, "
        f"{how}; guessing: {share(found['chance'])}, permuted classes: up to "
        f"{share(found['permuted'])}",
        f"95% interval {share(found['low'])} to {share(found['high'])}",
    )


def _list_leakage(
    evidence: Sequence[Evidence], audience: page.Audience
) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """Yield the leakage of messages, with the adversary's known columns."""
    for one in evidence:
        for note in one.notes:
            if not {*BITS, "null"} <= note.values.keys():
                continue
            found: Mapping[str, Any] = {
                f"bits{end}": note.values[name] for end, name in zip(ENDS, BITS, strict=True)
            }
            if audience == "public":
                found = coarse(found, outwards)  # as in the note
            beside = () if "entropy" in note.values else one.knows
            yield [name for name in beside if name not in _readings(evidence)], found


def _readings(evidence: Sequence[Evidence]) -> set[str]:
    return {name for one in evidence if one.attack == "single messages" for name in one.knows}


def _risk(
    expected: Mapping[str, Any], story: Mapping[str, Any], measured: Mapping[str, Any]
) -> page.Figure:
    """Return the leakage of a message relative to the reading, measured or expected."""
    meaning, risk = "of the bits that the unprotected reading reveals", share(expected["risk"])
    if not story:
        return page.Figure("Relative leakage", risk, f"{meaning}, predicted by the fit")
    whole = story["before"]["bits"]
    meaning += _to_whom(story["before"])

    def part(end: str) -> str:
        bits = max((measured or expected)[f"bits{end}"], 0.0)
        return share(min(bits / whole, 1.0) if whole > 0 else 0.0)

    if measured:
        risk, meaning = part(""), f"{meaning}; the fit predicted {risk}"
    else:
        meaning += ", predicted by the fit"
    return page.Figure("Relative leakage", risk, meaning, f"at most {part('_high')}")


def _leakage(estimate: Mapping[str, Any], meaning: str, known: Collection[str]) -> page.Figure:
    label = "Leakage, columns known" if known else "Information leakage"
    return page.Figure(label, _bits(estimate), meaning, f"95% interval {_within(estimate)}")


def _bits(estimate: Mapping[str, Any]) -> str:
    return f"{_decimal(estimate['bits'])} bits"


def _within(estimate: Mapping[str, Any]) -> str:
    low, high = (max(estimate[f"bits_{end}"], 0.0) for end in ("low", "high"))
    return f"{_decimal(low)} to {_decimal(high)}"


def _decimal(bits: float) -> str:
    return without_zeros(f"{max(bits, 0.0):.3f}")


def _describe_encoding(public: Mapping[str, Any]) -> str:
    policy = public["policy"]
    columns = [one["column"] for one in public["columns"] if one["role"] == "reading"]
    noun, were, look = (
        ("columns", "were", "they look") if columns[1:] else ("column", "was", "it looks")
    )
    return (
        f"The {noun} {join_names(columns)} {were} encoded by the {policy['method']} map at "
        f"strength {policy['strength']:g}. To a reader without the key {look} like "
        f"{_looks(policy)}. The recipient, who knows each person's class, decodes every reading "
        "exactly."
    )


def _describe_withheld(
    story: Mapping[str, Any], public: Mapping[str, Any], audience: page.Audience
) -> Iterator[str]:
    """Yield for each column that the fit withheld why it is not in the messages."""
    for column, found in story.get("withheld", {}).items():
        figures = coarse(found, outwards) if audience == "public" else found
        yield f"The fit {describe_withheld(column, figures)}."
    if not story and public.get("withheld"):
        yield f"Messages do not contain {join_names(public['withheld'])}, which reveal the class."


def _looks(policy: Mapping[str, Any]) -> str:
    if policy["strength"] == 0:
        return "the original readings: nothing is hidden"
    looks = {
        "normal": "standard normal scores",
        "uniform": "numbers between 0 and 1",
        "barycentre": "readings of the whole population, in their own units",
    }
    return looks[policy["base"]]


def _to_whom(before: Mapping[str, Any]) -> str:
    return f" to an adversary who knows {join_names(before['known'])}" if "known" in before else ""


def _alone(before: Mapping[str, Any]) -> str:
    """Return a sentence on the information of known columns alone, which no map hides."""
    if "known" not in before:
        return ""
    low, high = (_decimal(before[f"known_{end}"]) for end in ("low", "high"))
    lacks = before["missing_high"] > 0  # otherwise no cell is missing
    missing = f", and which of them are missing {_decimal(before['missing_bits'])}" if lacks else ""
    return (
        f"Without any message these columns reveal {_decimal(before['known_bits'])} bits (95% "
        f"interval {low} to {high}){missing}: no map hides that. "
    )


def _describe_unprotected(story: Mapping[str, Any], audience: page.Audience) -> str:
    before = story["before"]
    people = size(before["subjects"], audience)
    return (
        f"Without the map, one reading reveals {_decimal(before['bits'])} of the "
        f"{_decimal(before['entropy'])} bits of the class{_to_whom(before)} (95% interval "
        f"{_within(before)}). {_alone(before)}"
        f"The fit's predictions come from {people} people. Their readings were encoded by "
        "maps that were fitted to other people. If a map reveals nothing, 95% of such "
        f"estimates lie below {_decimal(before['null'])} bits."
    )


def _frontier(story: Mapping[str, Any]) -> page.Section | None:
    if not story:
        return None
    shown = story["frontier"]
    rows = [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]
    described = tuple(
        f"policy {row['number']}: {row['method']}, {row['base']}, strength {row['strength']:g}, "
        f"{row['bits']:.3f} bits, loss {share(row['loss'])}"
        for row in rows
    )
    stops = [row for row in rows if row["number"] == story.get("chosen", {}).get("number")]
    chart = page.frontier_chart(story, described, RISK, LOSS, list(map(_detail, (*rows, *stops))))
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = sorted((r for r in rows if r["method"] == method), key=lambda r: r["strength"])
        values = [tuple(float(row[name]) for row in own) for name in BAND]
        lines.append(page.Series(method, *values))
    bits = page.LineChart(
        tuple(lines),
        "strength",
        "bits of the class revealed by one message",
        "Information leakage that the fit expects at each strength, with 95% intervals",
        "internal",
    )
    return page.Section("frontier", "Risk-utility frontier", (chart, bits))


def _detail(row: Mapping[str, Any]) -> page.Detail:
    """Return the details of a policy: its map and the fit's expectations."""
    return page.Detail(
        (
            ("map", f"{row['method']}, strength {row['strength']:g}"),
            ("messages look like", _looks(row)),
            ("information leakage", f"{_bits(row)} ({_within(row)})"),
            (RISK[0], share(row["risk"])),
            (LOSS[0], share(row["loss"])),
        )
    )


BITS, ENDS = ("low", "bits", "high"), ("_low", "", "_high")
BAND = ("strength", "bits", "bits_low", "bits_high")


def _overheard(evidence: Sequence[Evidence]) -> page.Section | None:
    """Return charts of the original readings and the overheard messages, by class."""
    charts = [chart for one in evidence for chart in overheard(one)]
    if not charts:
        return None
    plain = "If the map hides the class, the overheard curves of all classes coincide."
    return page.Section("overheard", "The eavesdropper's view", (page.Prose((plain,)), *charts))


def _kit(story: Mapping[str, Any]) -> page.Section | None:
    if not story:
        return None
    visible = {
        "private": "The kit is private: keep it with those who know the classes.",
        "shareable": "The kit contains no single person's value. You may share it with devices and "
        "recipients. The adversary is assumed to have it.",
    }
    said = [visible[story["visibility"]]]
    if story["sessions"]:
        said.append(story["sessions"])
    return page.Section(
        "kit", "Contents of the kit", (page.Prose(tuple(said)), page.Bullets(tuple(story["holds"])))
    )
