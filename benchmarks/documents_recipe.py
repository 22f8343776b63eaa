"""The plain recipe for a start that voile's rules and starter are measured against.

Names on lists and what titles, commas, initials, fields, signatures and repeats add to them; a CRF
learnt on other corpora with the same lists, its own marginals cut where a miss costs ten tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from voile.documents import Corpus, Document
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.crf import CRF
from voile.documents.model.committee.committee import CommitteeMember, TokenCommittee
from voile.documents.replacements.names import LANGUAGES, builtin_names, fold, name_words

Bools = NDArray[np.bool_]
Span = tuple[int, int]

_LISTS = {
    f"{language} {what}": getattr(builtin_names(language), what)
    for language in LANGUAGES
    for what in ("female", "male", "surnames")
}
_LISTED = frozenset(
    word for names in _LISTS.values() for name in names for word in name_words(name)
)
_BIG = "A-ZÁÉÍÓÚÑÜÀÈÒÇ"
_CAPITAL = rf"[{_BIG}][\w'’-]+"
_NAME = rf"(?:{_CAPITAL}|[{_BIG}]\.?)"
_RUN = rf"{_NAME}(?:[ ]{{1,2}}(?:(?:de|del|la|los|y|van|von)[ ])*{_NAME}){{0,3}}"
_TITLE = (
    r"Mr|Mrs|Ms|Miss|Dr|Dra|Drs|Prof|Sir|Lord|Lady|Rev|Sen|Senator|Rep|President|Gov|Governor|Judge|"
    r"Capt|Captain|Sgt|Gen|General|King|Queen|Prince|Princess|Pope|Sr|Sra|Srta|Don|Doña|D"
)
_FIELD = (
    "From|To|Cc|cc|Bcc|Name|Patient|Doctor|Physician|Attending|Author|Nombre|Apellidos|Paciente|Médico|"
    "Remitido por|Responsable clínico|Firmado|Fdo"
)
_CLOSING = "Regards|Best|Thanks|Thank you|Sincerely|Cheers|Yours|Love|Atentamente|Saludos"
_WORD = re.compile(_CAPITAL)
_TITLED = re.compile(rf"\b(?:{_TITLE})\b ?\.? ?({_RUN})")
_COMMA = re.compile(rf"({_CAPITAL}) ?, ?({_CAPITAL})(?: [{_BIG}]\b\.?)?")
_INITIAL = re.compile(
    rf"(?:\b[{_BIG}] ?\. ?){{1,3}}{_CAPITAL}|({_CAPITAL}) [{_BIG}]\b ?\.? {_CAPITAL}"
)
_TURNED = re.compile(rf"{_RUN}(?: ?, ?{_RUN})?")
_PAIR = re.compile(rf"(?=\b({_CAPITAL}) ({_CAPITAL}))")
_LINE = re.compile(rf"(?m)(?:^|\. |- )(?:{_FIELD}) ?:(.*)$")
_SIGNED = re.compile(rf"(?m)^ ?(?:{_CLOSING})\b ?[,.!]*\s*\n+({_RUN}) *$")


def rule_spans(text: str) -> list[Span]:
    """Return what lists and the rules find in a text."""
    found = [*_listed(text), *_shaped(text)]
    known = {word.group() for start, end in found for word in _WORD.finditer(text, start, end)}
    return [*found, *(word.span() for word in _WORD.finditer(text) if word.group() in known)]


def _listed(text: str) -> list[Span]:
    return [word.span() for word in _WORD.finditer(text) if _is_listed(word.group())]


def _shaped(text: str) -> list[Span]:
    spans = [match.span(1) for match in chain(_TITLED.finditer(text), _SIGNED.finditer(text))]
    spans += [m.span() for m in _COMMA.finditer(text) if _is_listed(m[1]) or _is_listed(m[2])]
    spans += [m.span() for m in _INITIAL.finditer(text) if m[1] is None or _is_listed(m[1])]
    spans += [(m.start(1), m.end(2)) for m in _PAIR.finditer(text) if _is_listed(m[1])]
    lines = (line.span(1) for line in _LINE.finditer(text))
    spans += [name.span() for line in lines for name in _TURNED.finditer(text, *line)]
    return spans


@cache
def _is_listed(word: str) -> bool:
    return any(fold(part) in _LISTED for part in re.split(r"['’-]", word))


def learn_plainly(documents: Sequence[Document]) -> TokenCommittee:
    """Fit a CRF with the lists as features, decided by its own marginals."""
    apart = [replace(one, subject=str(number)) for number, one in enumerate(documents)]
    training = TrainingText.of(Corpus(apart), lists=_LISTS)
    none = np.zeros(len(training.tokens), dtype=np.int16)
    cost = np.array([10.0])
    classifier = CRF(iterations=30, cost_sensitive=True).fit(training.examples(none, cost))
    member = CommitteeMember("crf-cost", classifier, None, "accuracy")
    return TokenCommittee(training.labels, cost, training.space, (member,))
