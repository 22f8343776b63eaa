"""Convert the options of `apply` to the finders of removals and the replacements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from voile.core.errors import DamagedError, RequestError, nearest
from voile.core.warn import warn
from voile.documents.model.committee.committee import TokenCommittee
from voile.documents.model.committee.worker import Proposing, RemovalRecipe
from voile.documents.model.content import DocumentsContent
from voile.documents.model.own_models import with_models
from voile.documents.model.policies import DocumentsPolicy
from voile.documents.options import ApplyOptions
from voile.documents.patterns import patterns_of
from voile.documents.patterns.pattern import PatternFinder, TextPattern, find
from voile.documents.patterns.phrase_list import PhraseList
from voile.documents.replacements.kinds import check_kinds, kind_of, name_types
from voile.documents.replacements.names import Language
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.replacements.removal import KnownFinder, TextRemoval
from voile.documents.text.document import Document

FindKnown: TypeAlias = Callable[[DocumentsContent, ApplyOptions], KnownFinder | None]
MakeReplacer: TypeAlias = Callable[[ApplyOptions, Language], RemovalReplacer]
NAMELESS = (
    "no type of the policy is known to be a name, so further mentions stay: set one with "
    "--kind TYPE=name, or use --no-repeats"
)


class NamelessWarning(UserWarning):
    """No type of the kit is a name, so further mentions stay. Give `--kind TYPE=name`."""


def make_recipe(
    content: DocumentsContent,
    policy: DocumentsPolicy,
    options: ApplyOptions,
    find_known: FindKnown,
    make_replacer: MakeReplacer,
) -> RemovalRecipe:
    """Return the removals under a policy with these options, and their replacements.

    find_known : a function that returns the finder of known values.
    make_replacer : a function that returns the replacer of removed text.

    Warns if repeats are requested and no type of the policy is a name.
    """
    finders: tuple[PatternFinder, ...] = _patterns(options, options.record)
    if options.deny is not None:
        finders = (_phrase_list(options.deny, "deny-list"), *finders)
    committee = _working(with_models(content.committee(policy), options.model))
    kinds = check_kinds(options.kinds())
    repeated = name_types(committee.labels, kinds) if options.repeats else frozenset()
    if options.context and (words := content.repeating(repeated).context(policy)):
        finders = (*finders, PhraseList(words, label="CONTEXT", name="context"))
    allow = None if options.allow is None else _phrase_list(options.allow, "allow-list")
    put = make_replacer(options, language_of(content, options))
    beside = find_known(content, options)
    own = () if beside is None else {kind.upper() for kind in beside.kinds.values()}
    removed = [*committee.labels, *(finder.label for finder in finders), *own]
    for label in kinds:
        if label not in removed:
            raise RequestError(
                f"a kind for type {label}, which is never removed", instead=nearest(label, removed)
            )
    if options.repeats and not repeated:
        warn(NAMELESS, NamelessWarning)
    sure = None if beside is None else beside.propose_sure
    return RemovalRecipe(
        committee, finders, allow, repeated, put, sure, _rules(content, policy, committee, options)
    )


def language_of(content: DocumentsContent, options: ApplyOptions) -> Language:
    """Return the language of surrogates: the requested one, or that of the notes read by `init`."""
    found: Language = options.language or content.found.get("language", "english")
    return found


def _rules(
    content: DocumentsContent,
    policy: DocumentsPolicy,
    committee: TokenCommittee,
    options: ApplyOptions,
) -> Proposing | None:
    """Return the rules that find identifiers in addition to the committee.

    For a kit of unmarked notes, rules find the identifiers that they are sure of. If the policy has
    no pass, they and the pretrained model find all their proposals. For another kit with
    surrogates, rules find dates, since one true date of a person reveals the shift of all dates.
    """
    hinter = committee.hinter
    if hinter is not None and "start" in content.found:
        return hinter.propose_by_form if policy.passes else hinter.propose
    dates = [label for label in committee.labels if kind_of(label) == "date"]
    if options.replace != "surrogate" or not dates:
        return None
    from voile.documents.model.start.rules.forms import date_forms

    return FormProposals(date_forms(dates[0]))


@dataclass(frozen=True)
class FormProposals:
    """A finder of text that has one of several forms."""

    forms: tuple[PatternFinder, ...]

    def __call__(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Return the finds of each document, ordered and disjoint."""
        return [find(one.text, self.forms) for one in documents]


def _phrase_list(given: Any, name: str) -> PhraseList:
    """Read a list from a file, or use a given list."""
    return PhraseList.read(given, name=name)


def _working(committee: TokenCommittee) -> TokenCommittee:
    """Return the committee after a test.

    Otherwise every document would fail, with a late message.
    """
    try:
        committee.remover()([Document("A", pos=((0, 1, ""),))])
    # the possible effects of its arrays
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise DamagedError("the kit's classifiers do not fit its features") from None
    return committee


def _patterns(options: ApplyOptions, records: Sequence[str]) -> tuple[TextPattern, ...]:
    names = options.patterns
    if "none" in names:
        return patterns_of((), records)
    return patterns_of(None if "all" in names else names, records)


def pattern_names(options: ApplyOptions) -> list[str]:
    """Return the names of the patterns, without the user's own formats."""
    built_in = [pattern.name for pattern in _patterns(options, ())]
    return [*built_in, *(["record numbers"] if options.record else [])]
