"""The report's sections on itemsets, as data: measured figures, then predictions of the fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence, Rate
from voile.core.evidence import Heading as Question
from voile.core.rounding import exact, round_number
from voile.itemsets.rows.ranges import RangesForm
from voile.itemsets.verbs.content import ItemsetsContent
from voile.itemsets.verbs.lookup import ONE_LEFT, ONE_LEFT_BEFORE
from voile.itemsets.verbs.options import AXES
from voile.itemsets.verbs.report_data import MOST, STATING, by_utility, report_data
from voile.itemsets.verbs.report_features import features_section, list_features
from voile.release.accepted_risk import explain_accepted
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.shown import facts_for
from voile.report.charts.numbers import share_interval
from voile.report.evidence_sections import evidence_sections, shown_findings
from voile.report.sections import (
    Audience,
    Bar,
    BarChart,
    Detail,
    Figure,
    Figures,
    Grid,
    Prose,
    Section,
    frontier_chart,
    limits,
)
from voile.report.suppression import is_few
from voile.report.wording import estimate, format_note, is_hidden, join_names, share, share_of

Data = Mapping[str, Any]

UNSEEN = "people unseen when the features were chosen and when it learnt"
SEEN = "people unseen when it learnt, but not when the features were chosen: somewhat too low"
"""The population of the AUC. Earlier kits do not record it, and used all people for the choice."""
COUNTED_TWICE = "features that reveal the same are counted twice in it, and noise is counted."
OF_AUC = (
    "The loss is the part of the AUC above chance that a logistic regression "
    "loses, compared with all features, on {people}. The second loss is the share "
    "of summed utility: "
) + COUNTED_TWICE
OF_UTILITY = "Loss is the share of summed utility: " + COUNTED_TWICE
SIZE_NAMES = ("1", "2 to 4", "5 to 10", "11 to 49", "50 to 199", "200 and more")
RISK = AXES["risk"], "1 / k; 100% = somebody is singled out by items"
UTILITY_LOST = AXES["utility_lost"], "100% = no feature is published"
LOSS = {"auc": ("AUC lost", "0% = as all features classify; 100% = chance")}
LEFT_OUT = {
    "blocked": "that would complete a rare itemset",
    "rare": "that are too rare by themselves",
    "worthless": "without use for the label",
    "absent": "that no row contains",
}
SMALLEST = {
    "anonymity": "people who share all items that the adversary may know",
    "exact_anonymity": "people with identical rows",
    "label_diversity": "distinct labels among the people who share all items of a row",
}
LIMITS = (
    (
        "An adversary who also knows which items a person lacks may single out most "
        "people, for any k. Only policies that count absences prevent this: see the "
        "share of unique rows."
    ),
    (
        "The features were chosen with the labels, so the choice itself reveals some "
        "information about the labels."
    ),
    ("Kept columns and the label are published with the items. They can also distinguish people."),
    "Added rows can break the guarantee: certify each new release.",
    (
        "Two releases of the same people with different features can be joined on "
        "their common items."
    ),
)
TAKES: dict[Question, str] = {"singling out": "the source (--original)", "inference": "a label"}
"""The data that the attack on each question needs."""


def sections(
    subject: StoredKit | StoredRelease, evidence: Sequence[Evidence], *, audience: Audience
) -> tuple[Section, ...]:
    """Return the sections on a kit or on a release.

    A public report contains no feature that the release does not publish, no rare itemset, and no
    count of fewer than 11 people.
    """
    data, public, private = facts_for(audience, subject, _gather_data, STATING)
    data = by_utility(data) if audience == "public" else data
    if isinstance(subject, StoredKit):
        return (_kit_summary(data, audience), *_report_fit(data, audience), limits(LIMITS))
    published = [
        f"{column['column']}={value}" for column in public["policy"] for value in column["values"]
    ]
    return (
        _summary(data, public, private.get("figures", {}), evidence, audience),
        *evidence_sections(evidence, audience, takes=TAKES),
        _codebook(public),
        *(_report_fit(data, audience, published) if data else ()),
        limits(LIMITS),
    )


def _gather_data(kit: StoredKit) -> Data:
    return report_data(ItemsetsContent.of(kit), None)


def _kit_summary(data: Data, audience: Audience) -> Section:
    before, found = data["before"], data["found"]
    unique = share_of(before["unique_share"], before["subjects"], audience)
    lines = (
        f"{len(data['frontier']['risk']):,} policies were found that no other beats in both "
        f"risk and loss (method: {found['method']}, {found['stopped']}).",
        f"With all {before['features']:,} features, {unique} of the rows are unique.",
        OF_AUC.format(people=_people(found)) if found.get("loss") == "auc" else OF_UTILITY,
    )
    return Section("summary", "In short", (Prose(lines),), first=True)


def _people(found: Data) -> str:
    return UNSEEN if found.get("auc_on") == "unseen" else SEEN


def _summary(
    data: Data, public: Data, counted: Data, evidence: Sequence[Evidence], audience: Audience
) -> Section:
    figures, chosen = public["figures"], data.get("chosen")
    features = sum(len(column["values"]) for column in public["policy"])
    numbered = any(column["kind"] == RangesForm.kind for column in public["policy"])
    shown = [_least_shared(public["constraints"], counted, audience, numbered=numbered)]
    shown += _singled_out(evidence, audience)
    if "unique_share" in figures:
        meaning = "no other person has exactly the same items"
        shown.append(Figure("Unique rows", share(figures["unique_share"]), meaning))
    of = f"of {data['before']['features']:,} in the source" if data else "of the source's"
    shown.append(Figure("Features published", f"{features:,}", of))
    internal = audience == "internal"  # a public report has no AUC: see `by_utility`
    if internal and chosen and chosen.get("loss_low") is not None:
        shown.append(_auc_lost(chosen, data))
    lost = figures.get("utility_lost", figures.get("loss"))  # early releases have one loss
    if lost is not None:
        meaning = (
            "share of summed utility, predicted by the fit. 0% with all features, 100% with none"
        )
        shown.append(Figure("Utility lost", share(lost), meaning))
    if internal and chosen and chosen.get("auc_svm") is not None:
        shown.append(_classification(chosen, data["before"]))
    prose = (Prose(tuple(_describe_choice(chosen, data["found"]))),) if chosen else ()
    asked = public["constraints"]
    known = _describe_knowledge(asked, numbered=numbered)
    promise = (
        f"An adversary who knows {known}{' in one row' * ('most_unique_all_rows' in figures)} "
        f"finds at least {asked['k']:,} matching people in the release."
    )
    if "most_unique_all_rows" in figures:
        meaning = "no other person has the same joined rows; counts of 1 to 10 are rounded up"
        shown.append(Figure("Unique by all rows", share(figures["most_unique_all_rows"]), meaning))
    accepted = tuple(explain_accepted(public, counted, audience))
    blocks = (Prose((*accepted, promise)), Figures(tuple(shown)), *prose)
    return Section("summary", "In short", blocks, first=True)


def _describe_knowledge(asked: Data, *, numbered: bool) -> str:
    items = "items that a person has and lacks" if asked["absences"] else "a person's items"
    if asked["m"] is not None:
        return f"any {asked['m']:,} of {items}"
    return f"any of {items}" + " and every number" * numbered


def _least_shared(
    asked: Data, counted: Data, audience: Audience, *, numbered: bool = False
) -> Figure:
    """Return the release's smallest group, or the promised k if a public report must hide it."""
    k, reached = asked["k"], int(counted.get("anonymity", 0))
    known = _describe_knowledge(asked, numbered=numbered)
    shared = f"the smallest number of people who match an adversary's possible knowledge: {known}"
    if reached <= k or (audience == "public" and is_few(reached)):
        return Figure("Smallest group promised", f"k = {k:,}", shared)
    return Figure("Smallest group", f"k = {reached:,}", f"{shared}; k = {k:,} was promised")


def _singled_out(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Figure]:
    """Yield the worst case of singling out, with the same case on the source."""
    found = [one for attack in evidence for one in shown_findings(attack, audience)]
    rates = {(one.quantity, format_note(one.at, audience)): one.rate for one in found if one.at}
    cases = [
        (_rank(rate, audience), _rank(before, audience), at, rate, before)
        for (quantity, at), rate in rates.items()
        if quantity == ONE_LEFT and (before := rates.get((ONE_LEFT_BEFORE, at))) and rate.trials
    ]
    if cases:
        at, rate, before = max(cases, key=lambda case: case[:2])[2:]
        value, interval = estimate(rate, audience)
        meaning = (
            "share of the attacked people in the worst case tried: the adversary knows the "
            f"{at}; in the source {estimate(before, audience)[0]}"
        )
        yield Figure("Singled out", value, meaning, interval)


def _rank(rate: Rate, audience: Audience) -> tuple[float, bool]:
    """Return a sort key for a rate by its displayed value. Hidden small counts are not ranked."""
    hidden = is_hidden(rate, audience)
    return (round(rate.value) if hidden else rate.value), hidden


def _auc_lost(chosen: Data, data: Data) -> Figure:
    before = data["before"]
    beside = "" if before.get("auc_logistic") is None else f" of {before['auc_logistic']:.3f}"
    meaning = (
        f"of the AUC above chance that a logistic regression has with all features{beside}; "
        f"{_people(data['found'])}"
    )
    interval = share_interval(chosen["loss_low"], chosen["loss_high"])
    return Figure("AUC lost", share(chosen["loss"]), meaning, interval)


def _classification(chosen: Data, before: Data) -> Figure:
    low, high = chosen["auc_svm_low"], chosen["auc_svm_high"]
    beside = "" if before.get("auc_svm") is None else f"; with all features {before['auc_svm']:.3f}"
    meaning = f"AUC of a linear support vector machine at the fit, cross-validated{beside}"
    return Figure(
        "Classification, AUC", f"{chosen['auc_svm']:.3f}", meaning, f"{low:.3f} to {high:.3f}"
    )


def _describe_choice(chosen: Data, found: Data) -> Iterator[str]:
    how, utility = f"(method: {found['method']}, {found['stopped']})", found["utility"]
    gap, by = _gap(chosen["utility"], chosen["bound"]), utility.replace("-", " ")
    if (found["method"], utility) == ("portfolio", "mutual-information"):
        yield f"Features chosen by AUC on people that the search did not see {how}."
        yield f"{gap} This gap is in summed {by}, which was not the criterion of the choice."
    else:
        yield f"Features chosen by {by} {how}. {gap}"
    out = [f"{chosen[name]:,} {why}" for name, why in LEFT_OUT.items() if chosen[name]]
    if out:
        yield f"Features left out: {join_names(out)}."


def _gap(utility: float, bound: float) -> str:
    """Return a sentence on the optimality gap of the chosen features.

    >>> _gap(2.0, 2.5)
    'Optimality gap: at most 25%, proved.'
    """
    if bound <= utility * (1 + 1e-9):
        return "Optimality gap: 0%, proved. No set that keeps to this k has a larger utility."
    if not utility:
        return "Their utility is 0."
    return f"Optimality gap: at most {share(round_number(bound / utility - 1, 'up'))}, proved."


def _report_fit(data: Data, audience: Audience, published: Sequence[str] = ()) -> Iterator[Section]:
    """Yield the sections on the frontier, on groups, and on the features of the chosen policy.

    A public report lists the `published` features in the order of the release, not by utility.
    """
    shown = data["frontier"]
    axis = LOSS.get(data["found"].get("loss") or "", UTILITY_LOST)
    described = tuple(
        f"policy {n}: k = {_write_reached(asked, round(1 / risk))}, {features:,} features, "
        f"{axis[0]} {share(loss)}" + ("" if auc is None else f", AUC {auc:.3f}")
        for n, asked, risk, features, loss, auc in zip(
            *(shown[name] for name in ("number", "k", "risk", "features", "loss")),
            shown.get("auc_svm", [None] * len(shown["k"])),
            strict=True,
        )
    )
    rows = [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]
    stops = [row for row in rows if row["number"] == data.get("chosen", {}).get("number")]
    if audience == "public":
        stops = [_coarse(row) | {"names": published[:MOST]} for row in stops]
        data = {**data, "chosen": _coarse(data["chosen"])} if stops else data
    known = "names" in shown  # early releases have no details
    details = [_detail(row, data["before"], audience) for row in (*rows, *stops) if known]
    chart = frontier_chart(data, described, RISK, axis, details)
    yield Section("frontier", "Risk-utility frontier", (chart,))
    yield _groups(data, audience)
    if data.get("chosen"):
        yield features_section(data, published)


def _coarse(row: Data) -> dict[str, Any]:
    """Return a policy with the promised k instead of a k that reveals a small number of people."""
    few = is_few(round(1 / exact(row["risk"])))
    return {**row, "risk": 1 / row["k"]} if few else dict(row)


def _detail(row: Data, before: Data, audience: Audience) -> Detail:
    """Return the details of a policy, including its features."""
    facts = [
        ("smallest group", f"k = {_write_reached(row['k'], round(1 / row['risk']))}"),
        *_losses(row),
        ("unique rows", share_of(row["unique_share"], before["subjects"], audience)),
        ("empty rows", share_of(row["empty_share"], before["subjects"], audience)),
    ]
    if audience == "internal" and row.get("auc_svm") is not None:
        facts.append(("classification, AUC", f"{row['auc_svm']:.3f}"))
    names = row["names"]
    more = f" and {row['features'] - len(names):,} more" * (row["features"] > len(names))
    facts.append((f"features ({row['features']:,})", f"{list_features(names) or 'none'}{more}"))
    return Detail(tuple(facts))


def _losses(row: Data) -> Iterator[tuple[str, str]]:
    """Yield the lost share of AUC, if it was measured, and that of utility."""
    if row.get("loss_low") is not None:
        interval = share_interval(row["loss_low"], row["loss_high"])
        yield LOSS["auc"][0], f"{share(row['loss'])} ({interval})"
    yield AXES["utility_lost"], share(row.get("utility_lost", row["loss"]))


def _write_reached(asked: int, reached: int) -> str:
    """Return the k that a policy reaches, and the requested one if it differs.

    >>> _write_reached(11, 14), _write_reached(11, 11)
    ('14 (11 asked for)', '11')
    """
    return f"{reached:,}" + f" ({asked:,} asked for)" * (reached != asked)


def _groups(data: Data, audience: Audience) -> Section:
    """Return the section on group sizes, with all features and with the chosen ones."""
    states = {"all features": data["before"]}
    if data.get("chosen"):
        states["published"] = data["chosen"]
    columns = ("at the fit", *states)
    numeric = tuple(range(1, len(columns)))
    rows = [
        (title, *(share_of(one[name], one["subjects"], audience) for one in states.values()))
        for title, name in (("unique rows", "unique_share"), ("empty rows", "empty_share"))
    ]
    least = [
        (title, *(f"{one[name]:,}" for one in states.values()))
        for name, title in SMALLEST.items()
        if all(one.get(name) is not None for one in states.values())
    ]
    bars = tuple(
        (size, tuple(Bar(name, one["sizes"][x]) for name, one in states.items()))
        for x, size in enumerate(SIZE_NAMES)
    )
    step = data["found"].get("sizes_of_one_in") or 1  # early kits counted all rows
    sizes = "Rows by the number of people who share all their items: more is safer"
    sizes += f" (one row in {step:,} counted)" * (step > 1)
    blocks = (
        Grid(columns, tuple(rows), "Share of rows", numeric),
        Grid(columns, tuple(least), "Smallest groups", numeric, "internal"),
        BarChart(bars, "share of rows", sizes, "internal"),
    )
    return Section("groups", "Identical rows", blocks)


def _codebook(public: Data) -> Section:
    values = {column["column"]: len(column["values"]) for column in public["policy"]}
    rows = tuple(
        (c["column"], c["role"], c["what"], f"{n:,}" if (n := values.get(c["column"])) else "–")
        for c in public["columns"]
    )
    columns = ("column", "role", "in the release", "features")
    grid = Grid(columns, rows, "Treatment of each column", (3,))
    return Section("codebook", "Codebook", (grid,))
