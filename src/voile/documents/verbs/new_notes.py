"""Check whether a kit fits the notes to release, and choose the policy for other notes."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from voile.core.warn import warn
from voile.data import Source
from voile.documents.model.content import DocumentsContent
from voile.documents.model.policies import NOVELTY
from voile.documents.text.reader import DocumentReader, is_usable
from voile.documents.words.novelty import NoveltyCheck
from voile.release.choice import Chosen

LOOKED_AT = 300
"""The number of first notes that are checked."""
UNLIKE = (
    "the notes are unlike the kit's: in half of them {share:.0%} of the words or more are new. "
    "In 95% of the kit's own notes under {high:.0%} are new; {instead}"
)
BY_RULES = (
    "rules and the pretrained model find identifiers instead of its default policy; make a kit of "
    "these notes with voile documents init"
)
KEPT = (
    "the policy may miss identifiers and remove harmless words; fit a kit on such notes, and "
    "measure the release with voile documents accept"
)


class NoveltyWarning(UserWarning):
    """The notes differ from those of the kit in style or language. Make a kit of such notes."""


def choose_for_notes(
    content: DocumentsContent, chosen: Chosen, source: Source, reader: DocumentReader
) -> Chosen:
    """Return the policy for these notes, without a kit's default policy if the kit does not fit.

    Rules and the pretrained model then find identifiers. They are available in kits of unannotated
    notes. Another kit, or a policy chosen by the user, is applied with a warning. Cost:
    O(characters of 300 notes).
    """
    data = content.found.get(NOVELTY)
    if data is None or not source.has_rows():  # a worker receives the policy that was chosen here
        return chosen
    documents = reader.read_documents(source, annotated=False)
    texts = (one.text for one in islice(documents, LOOKED_AT) if is_usable(one))
    check = NoveltyCheck.from_data(data)
    share = check.measure(texts)
    if share is None or share <= check.high:
        return chosen
    is_default = chosen.number is not None and chosen.number == content.found.get("default_policy")
    said = UNLIKE.format(share=share, high=check.high, instead=BY_RULES if is_default else KEPT)
    warn(said, NoveltyWarning)
    return replace(chosen, policy={**chosen.policy, "passes": 0}) if is_default else chosen
