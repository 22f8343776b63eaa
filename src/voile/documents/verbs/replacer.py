"""Create the replacements of removed text from the options."""

from __future__ import annotations

from pathlib import Path

from voile.documents.options import ApplyOptions
from voile.documents.replacements.kinds import check_kinds
from voile.documents.replacements.names import Language, NameLists
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.replacements.replacer import make_replacer
from voile.documents.replacements.surrogates import Surrogates
from voile.keys.pseudonyms import Secret


def make_replacer_of(options: ApplyOptions, language: Language) -> RemovalReplacer:
    """Return the replacer of removed text."""
    kinds = check_kinds(options.kinds())
    if options.replace != "surrogate":
        return make_replacer(options.replace, categories=kinds)
    path = options.names
    return Surrogates(
        Secret.find(options.key_file) or Secret.from_environment(),
        language=language,
        names=None if path is None else [NameLists.read(Path(path))],
        kinds=kinds,
        date_order=options.date_order,
        days=options.date_shift_days,
        ages=options.ages,
    )
