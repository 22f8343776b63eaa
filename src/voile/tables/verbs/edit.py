"""Implement `voile tables edit`: merge or split labels of a policy by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from voile.core.errors import RequestError, nearest
from voile.data.files.atomic import write_text
from voile.data.files.outputs import POLICY
from voile.release.choice import SHOWN, Choice, Chosen
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.content import KIND, TablesContent
from voile.tables.verbs.options import EditOptions
from voile.tables.verbs.show import find_policy, open_tables_kit


def edit_policy(
    options: EditOptions, reporter: VerbReporter, *, kit: StoredKit | str, out: Path, force: bool
) -> EndedVerb:
    opened = open_tables_kit(kit)
    content = TablesContent.of(opened)
    policy, number = find_policy(content, opened, options)
    if not options.merge and not options.split:
        raise RequestError("nothing is edited", instead="give --merge or --split, several times")
    edited = policy
    for place in options.merge:
        edited = _with_merge(edited, place)
    for place in options.split:
        edited = _with_split_point(edited, place, keep=True, option="--split")
    figures = content.figures_of_policy(edited)
    chosen = Chosen(
        KIND,
        opened.id,
        content.family.number_of(edited),
        _choice_of(options, number),
        figures,
        edited.to_data(),
        edited=edited != policy,
    )
    write_text(out, chosen.to_toml(), POLICY, force=force)
    is_new = chosen.number is None
    reporter.say(f"{out}: {'an edited policy' if is_new else f'policy {chosen.number} of the kit'}")
    feasible = content.space.is_feasible(edited, figures["suppressed"])
    if not feasible:
        reporter.insist(f"{out}: the policy breaks the kit's constraints, and apply refuses it")
    return EndedVerb(
        {
            "policy_file": str(out),
            "number": chosen.number,
            "edited": chosen.edited,
            "feasible": feasible,
            "figures": dict(chosen.figures),
            "policy": dict(chosen.policy),
        },
        rows=[{name: chosen.figures[name] for name in SHOWN if name in chosen.figures}],
    )


def _choice_of(options: EditOptions, number: int | None) -> Choice:
    return Chosen.read(options.policy).choice if options.policy else Choice(policy=number)


def _with_merge(policy: AnyPolicy, place: str) -> AnyPolicy:
    if not isinstance(policy, TreePolicy):
        return _with_split_point(policy, place, keep=False, option="--merge")
    if not place.isdecimal():
        raise RequestError(
            "a tree merges whole nodes",
            where="--merge",
            instead="name a number that voile tables show lists as merges_into",
        )
    return policy.merge(int(place))


def _with_split_point(policy: AnyPolicy, place: str, *, keep: bool, option: str) -> Policy:
    """Return a global policy with or without the split point before a value: COLUMN=VALUE."""
    if isinstance(policy, TreePolicy):
        raise RequestError(
            "a tree cannot be split by hand", where=option, instead="choose a finer policy"
        )
    name, equals, value = place.partition("=")
    column = name.strip()
    if not equals or column not in policy.columns:
        raise RequestError(
            "write COLUMN=VALUE, the first value of an interval",
            where=option,
            instead=nearest(column, policy.columns),
        )
    start = 0
    for domain in policy.domains:
        if domain.column == column:
            break
        start += len(domain) - 1
    texts = ["" if one is None else str(one) for one in domain.values]
    if value.strip() not in texts[1:]:
        raise RequestError(
            f"column {column} has no such value after its first",
            where=option,
            instead="take one that voile tables show lists",
        )
    bits = policy.bits.copy()
    bits[start + texts.index(value.strip()) - 1] = keep
    return replace(policy, bits=bits)
