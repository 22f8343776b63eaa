"""The study's verb `fit`: find the table's policies, and evaluate each with all parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import ProgressHook, silent
from voile.data import Source
from voile.data.roles import Roles
from voile.data.source import BATCH_ROWS
from voile.documents.model.policies import ANNOTATED, PROPOSED
from voile.documents.model.start.rules import RULES
from voile.documents.replacements.kinds import kind_of
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.modules import find_module
from voile.release.choice import ROUNDING, Choice, Chosen, default_choice
from voile.release.kit import StoredKit
from voile.release.options import with_options
from voile.study.adversary.people import number_facts, number_people
from voile.study.plan.entries import JOINT
from voile.study.plan.plan import StudyPlan
from voile.study.readers import finds_alone
from voile.study.risk.after import RowsBeside, find_after
from voile.study.risk.joint import JointRisk, TextLeaks
from voile.study.risk.stating import category_columns, measure_stated, true_values
from voile.study.study_kit import named_in_kit, pack, wrap_searched
from voile.study.study_release import UNACCEPTED
from voile.study.verbs.check import FitInputs, check, holds_events, on_another_day
from voile.study.verbs.checks import offer_plan_options
from voile.study.verbs.notes_kit import open_kit
from voile.study.verbs.writing import options_of_rows
from voile.tables.fitting.kept import fit_kept
from voile.tables.module import TABLES
from voile.tables.people.population import PopulationGapError
from voile.tables.policies.family import AnyPolicy
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.following import ReleaseArchive

SHOWN = 32
"""The number of policies on the joint frontier."""


def fit(plan: StudyPlan, *, force: bool, progress: ProgressHook) -> StoredKit:
    """Make the kits of notes, fit the rows, evaluate policies given the texts, and choose one.

    Raises
    ------
    RequestError : a kit of notes was not trained on a type in the plan, or parts disagree.
    InfeasibleError : no policy meets the requirements.
    """
    inputs = check(plan)
    texts = {name: open_kit(plan, name, force=force, progress=progress) for name in plan.texts}
    _check_learnt(plan, texts)
    chosen = {name: _choose(plan, name, kit) for name, kit in texts.items()}
    table, _ = plan.table
    fitted = _fit_part(plan, table, inputs, progress)
    others = {name: _fit_part(plan, name, inputs, progress) for name in plan.rows if name != table}
    chosen |= {name: _choose(plan, name, kit) for name, kit in others.items()}
    leaks = _leaks(plan, texts, chosen, _stated_in(plan, texts, inputs.roles[table].of("quasi")))
    content = TablesContent.of(fitted)
    judge = _PolicyJudge(content, leaks, _beside(plan, content, inputs.sources, others, chosen))
    chosen[table] = _pick(plan, fitted, judge, leaks["joint_at_recall"])
    frontier = judge.table(progress)
    facts = {
        "plan": plan.to_data(),
        "leaks": {name: {"columns": x.columns, "name": x.name} for name, x in leaks.items()},
        "chosen": {name: named_in_kit(one) for name, one in chosen.items()},
        UNACCEPTED: [name for name, kit in texts.items() if is_unchecked(kit)],
        "extract": [day and day.isoformat() for day in inputs.extract],
    }
    return pack(table, {table: fitted, **others, **texts}, facts, frontier)


def _fit_part(plan: StudyPlan, name: str, inputs: FitInputs, progress: ProgressHook) -> StoredKit:
    source, roles, options = inputs.sources[name], inputs.roles[name], inputs.options[name]
    if holds_events(plan, name, roles):
        return with_options(fit_kept(source, roles, options), options)
    fit_rows = find_module(plan.rows[name].kind).fit
    try:
        made = fit_rows(source, roles, options, seed=plan.study.seed, progress=progress)
    except PopulationGapError as error:
        raise on_another_day(plan, error) from None
    return with_options(made, options)


def _check_learnt(plan: StudyPlan, texts: Mapping[str, StoredKit]) -> None:
    """Refuse mentions of types that no kit or reader detects."""
    for name, kit in texts.items():
        labels = kit.facts["labels"]
        annotated = kit.facts.get("marks", ANNOTATED) == ANNOTATED
        found = {*labels, *(() if annotated else (rule.label for rule in RULES))}
        absent = [
            one
            for one, x in plan.mentions.items()
            if one not in found and not x.keep and not finds_alone(one, words=x.is_looked_for)
        ]
        if absent:
            raise RequestError(
                f"mentions names {', '.join(absent)}, which the kit of parts.{name} never learnt",
                where=str(plan.notes_kit(name)),
                instead=f"take it out, fit the kit on notes that mark it, or look for the column's "
                f'values: {absent[0]} = {{ column = "...", values = true }}; it learnt '
                f"{', '.join(labels)}",
            )


def _choose(plan: StudyPlan, name: str, kit: StoredKit) -> Chosen:
    part = plan.parts[name]
    if part.kind == "tables" and not kit.facts["domains"]:  # events have one policy
        return TABLES.choose(kit, Choice(policy=0))
    if part.choose:
        return find_module(part.kind).choose(kit, Choice.parse(part.choose))
    try:
        return find_module(part.kind).choose(kit, default_choice(kit))
    except RequestError:
        raise RequestError(
            "no policy of its kit is chosen",
            where=f"parts.{name}",
            instead="pick one, as in choose = { max_relative_risk = 0.05 }",
        ) from None


def is_unchecked(kit: StoredKit) -> bool:
    """Return whether a kit's figures are relative to unreviewed proposals."""
    return kit.facts.get("marks") == PROPOSED


def miss_of(kit: StoredKit, chosen: Chosen) -> float:
    """Return the share of mentions that a policy of notes misses, at the upper end of the interval.

    If the kit's figures are relative to unreviewed proposals, the share counts as 1.
    """
    if is_unchecked(kit):
        return 1.0
    return float(chosen.figures.get("risk_high", chosen.figures.get("risk", 1.0)))


def _stated_in(
    plan: StudyPlan, texts: Mapping[str, StoredKit], quasi: Sequence[str]
) -> dict[str, float]:
    """Return the share of people with source texts that state each category without a rule."""
    ruled = {one.column for one in plan.mentions.values()}
    source, subject = plan.open_part(plan.table[0]), plan.study.subject
    readers = category_columns(source, [one for one in quasi if one not in ruled])
    truth = true_values(source, subject, [*readers])
    said = (pair for name, kit in texts.items() for pair in _texts_of(plan, name, kit))
    return (
        {one.column: one.share for one in measure_stated(said, readers, truth)} if readers else {}
    )


def _texts_of(plan: StudyPlan, name: str, kit: StoredKit) -> Iterator[tuple[str, str]]:
    """Yield the person and the text of each text of a part."""
    part, source = plan.texts[name], plan.open_part(name)
    roles = Roles.model_validate(kit.facts["roles"])
    columns = [part.text] if part.text is not None else list(roles.of("text"))
    for batch in source.batches([plan.study.subject, *columns], batch_rows=BATCH_ROWS // 16):
        people, *texts = (x.to_pylist() for x in batch.columns)
        for own in texts:
            yield from ((str(who), x) for who, x in zip(people, own, strict=True) if x)


def _leaks(
    plan: StudyPlan,
    texts: Mapping[str, StoredKit],
    chosen: Mapping[str, Chosen],
    stated: Mapping[str, float],
) -> dict[str, TextLeaks]:
    """Return the leaks of texts at perfect detection, and at the measured recall of the kits.

    stated : by column, the share of people with texts that state a category.
    """
    kept = [one.column for one in plan.mentions.values() if one.keep and one.column]
    read = [one.column for one in plan.mentions.values() if one.column and not one.keep]
    names = any(kind_of(label) == "name" for kit in texts.values() for label in kit.facts["labels"])
    miss = max((miss_of(kit, chosen[name]) for name, kit in texts.items()), default=0.0)
    return {
        name: TextLeaks({**stated, **one.columns}, one.name)
        for name, one in (
            ("joint", TextLeaks.of(kept, read, 0.0, names=names)),
            ("joint_at_recall", TextLeaks.of(kept, read, miss, names=names)),
        )
    }


def _beside(
    plan: StudyPlan,
    content: TablesContent,
    sources: Mapping[str, Source],
    kits: Mapping[str, StoredKit],
    chosen: Mapping[str, Chosen],
) -> RowsBeside | None:
    """Release other tables and items in memory, and read their facts of each person.

    Return None without such parts. Memory: these parts in their released form.
    """
    facts = []
    for name in plan.linked_rows:
        source, options = plan.open_part(name), options_of_rows(plan, name)
        with offer_plan_options(plan, name):
            release = find_module(plan.rows[name].kind).apply(
                kits[name], chosen[name], source, None, options, force=False, progress=silent
            )
        facts.append(number_facts(release, source, plan.study.subject))
    return (
        RowsBeside.read_rows(content, sources[plan.table[0]], number_people(facts))
        if facts
        else None
    )


@dataclass(eq=False)
class _PolicyJudge:
    """The joint risk of the table's policies, given mentions in texts and facts of other parts."""

    content: TablesContent
    leaks: Mapping[str, TextLeaks]
    rows: RowsBeside | None
    _numbered: dict[int, dict[str, float | None]] = field(default_factory=dict)
    _searched: list[dict[str, float | None]] = field(default_factory=list)

    def __call__(self, number: int) -> dict[str, float | None]:
        if number not in self._numbered:
            loss = float(self.content.frontier.loss[number])
            self._numbered[number] = self._judge_policy(
                number, self.content.family.row_policy(number), loss
            )
        return self._numbered[number]

    def add(self, policy: AnyPolicy, loss: float) -> None:
        """Evaluate a policy that is not on the frontier."""
        self._searched.append(self._judge_policy(None, policy, loss))

    def _judge_policy(self, number: int | None, policy: AnyPolicy, loss: float) -> dict[str, Any]:
        risk = JointRisk.of(self.content.space, policy)
        own = risk.records if self.rows is None else self.rows.records(risk.released)
        return {
            "number": number,
            "loss": loss,
            "released": float(own.weights.sum()),
            "table": risk.expect_matches(TextLeaks({}), replace(own, beside=None)),
            **{name: risk.expect_matches(one, own) for name, one in self.leaks.items()},
        }

    def mean(self, number: int) -> float:
        """Return the mean joint risk of a released subject, at the recall of the notes' kits."""
        row: dict[str, Any] = self(number)
        return row["joint_at_recall"] / row["released"] if row["released"] else 0.0

    def table(self, progress: ProgressHook) -> pa.Table:
        """Return the joint frontier: evenly spaced policies of the table's, and evaluated ones.

        Each policy takes a pass over the population, so a frontier of thousands is not evaluated as
        a whole.
        """
        policies = len(self.content.frontier)
        even = np.unique(np.linspace(0, policies - 1, min(SHOWN, policies)).astype(int)).tolist()
        for done, number in enumerate(even, 1):
            self(number)
            progress("judging all parts together", done, len(even))
        rows = [self._numbered[number] for number in sorted(self._numbered)]
        return pa.Table.from_pylist([*rows, *self._searched])


def _pick(plan: StudyPlan, kit: StoredKit, judge: _PolicyJudge, leaks: TextLeaks) -> Chosen:
    """Choose the table's policy by the requirements. A joint risk includes a ledger's releases."""
    tables, choice = TABLES, plan.choice()
    if choice is None and plan.ledger is not None:
        return _pick_after(plan, plan.ledger, kit, judge, leaks)
    if choice is None:
        choice = Choice(policy=_within(judge, kit.policies, plan.promise.ways[JOINT]))
    chosen = tables.choose(kit, choice)
    judge(int(chosen.number or 0))
    return chosen


def _pick_after(
    plan: StudyPlan, place: Path, kit: StoredKit, judge: _PolicyJudge, leaks: TextLeaks
) -> Chosen:
    ledger, content = Ledger.read_file(place), judge.content
    keys = LedgerKeys.of(plan.key_file, ledger.id)
    keys.check(ledger)
    archive, limit = ReleaseArchive(plan.releases), plan.promise.ways[JOINT]
    policy = find_after(
        content, leaks, limit, ledger, keys, archive, rows=judge.rows, seed=plan.study.seed or 0
    )
    number = content.family.number_of(policy)
    if number is not None:
        judge(number)
        return TABLES.choose(kit, Choice(policy=number))
    judge.add(policy, float(content.score(policy).loss))
    return wrap_searched(kit, policy.to_data())


def _within(judge: _PolicyJudge, policies: int, limit: float) -> int:
    """Return a policy within a joint risk by bisection, since loss falls as risk grows."""
    if judge.mean(0) > limit + ROUNDING:
        raise InfeasibleError(
            f"no policy has a joint risk of at most {limit:.6g}",
            instead=f"the least is {judge.mean(0):.6g}",
        )
    low, high = 0, policies
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if judge.mean(middle) <= limit + ROUNDING else (low, middle)
    return low
