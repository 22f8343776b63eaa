"""Load spaCy pipelines that find entities from a folder (the extra `spacy`).

spaCy loads only data: JSON, msgpack and NumPy arrays without pickles. But a pipeline's config.cfg
lists functions to call, components of any installed package, and other pipelines to import. So
voile checks it before spaCy uses it. voile loads only spaCy's own components, and only those needed
to find entities. It skips spaCy's components of other kinds, and refuses any other content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.errors import RequestError
from voile.core.lazy import library
from voile.documents.model.classifiers.folders.reading import FAR, MARKS, ModelPieces

CONFIG = MARKS["spacy"]
LOADED = frozenset({"beam_ner", "entity_ruler", "ner", "sentencizer", "span_ruler", "tok2vec"})
LEFT_OUT = frozenset(
    {
        "attribute_ruler",
        "beam_parser",
        "lemmatizer",
        "morphologizer",
        "parser",
        "senter",
        "tagger",
        "trainable_lemmatizer",
    }
)
"""Components by their factories; all others are refused."""
FUNCTIONS = re.compile(
    r"spacy\.(CharacterEmbed|HashEmbedCNN|MaxoutWindowEncoder|MishWindowEncoder|MultiHashEmbed"
    r"|Tok2Vec|Tok2VecListener|TransitionBasedParser|Tokenizer|Vectors|levenshtein_compare"
    r"|[a-z_]+_filter|[a-z_]+_scorer)\.v[0-9]+"
)
"""The functions that a configuration may call: they build networks, tokenisers and rules."""
LANGUAGE = re.compile(r"[a-z]{2,3}")
OTHER_FILES = ("meta.json", "tokenizer", "vocab")
CHUNK = re.compile(r".{1,50000}(?!\S)|.{1,50000}", re.DOTALL)
"""The text that a pipeline reads at once."""


def files_of(folder: Path) -> list[str]:
    """Return the names of the used files."""
    _, loaded, _ = _checked_config(folder)
    places = (folder / name for name in (CONFIG, *OTHER_FILES, *loaded))
    found = chain.from_iterable([one, *one.rglob("*")] for one in places)
    return [str(one.relative_to(folder).as_posix()) for one in found if one.is_file()]


def open_folder(folder: Path) -> SpacyReader:
    """Load a pipeline.

    Raises
    ------
    RequestError : the folder contains no pipeline, or the pipeline has foreign parts, which the
        error lists. Also raised if spaCy is not installed.
    """
    config, loaded, left_out = _checked_config(folder)
    util = library("spacy", "spacy").util
    try:
        nlp = util.load_model_from_config(config, exclude=left_out)
        nlp.from_disk(folder, exclude=left_out)
        types = sorted({label for name in loaded for label in _labels(nlp.get_pipe(name))})
        reader = SpacyReader(nlp, tuple(types))
        reader.read_text("A")
    except Exception:
        raise _refuse_pipeline(folder, "spaCy cannot load this pipeline") from None
    if not types:
        raise _refuse_pipeline(folder, "the pipeline finds no entities")
    return reader


def _labels(component: Any) -> tuple[str, ...]:
    finds_entities = getattr(component, "annotate_ents", True)
    return tuple(getattr(component, "labels", ())) if finds_entities else ()


def _checked_config(folder: Path) -> tuple[Any, list[str], list[str]]:
    """Return a configuration of only spaCy's own code, and the loaded and skipped components.

    All variables are substituted before the check, so the checked configuration is the loaded one.
    """
    util = library("spacy", "spacy").util
    try:
        config = util.load_config(folder / CONFIG, interpolate=True)
        kinds = {str(n): config["components"][n].get("factory") for n in config["nlp"]["pipeline"]}
        language = str(config["nlp"]["lang"])
        loaded = [name for name, kind in kinds.items() if kind in LOADED]
        called = [config["nlp"], *(config["components"][name] for name in loaded)]
        functions = [str(one) for part in called for one in _functions(part)]
    except Exception:
        raise _refuse_pipeline(folder, "the configuration cannot be read") from None
    others = [name for name, kind in kinds.items() if kind not in LOADED | LEFT_OUT]
    if others:
        raise _refuse_pipeline(
            folder, f"a component is not of spaCy's own kinds: {', '.join(others)}"
        )
    calls = [one for one in functions if not FUNCTIONS.fullmatch(one)]
    if calls or not LANGUAGE.fullmatch(language):
        what = ", ".join(calls) or f"the language {language}"
        raise _refuse_pipeline(folder, f"the configuration calls code that is not loaded: {what}")
    return config, loaded, [name for name in kinds if name not in loaded]


def _functions(part: Any) -> Iterator[Any]:
    """Yield the functions that a part of a configuration refers to."""
    if isinstance(part, Mapping):
        for key, value in part.items():
            if str(key).startswith("@"):
                yield value
            yield from _functions(value)
    elif isinstance(part, list | tuple):
        yield from chain.from_iterable(map(_functions, part))


def _refuse_pipeline(folder: Path, why: str) -> RequestError:
    return RequestError(
        why,
        where=str(folder / CONFIG),
        instead="give a pipeline of spaCy's own components that finds entities",
    )


@dataclass(frozen=True, eq=False)
class SpacyReader:
    """A pipeline.

    It gives no probabilities: its entities have the highest odds, all other text the lowest.
    """

    nlp: Any
    types: tuple[str, ...]

    def read_text(self, text: str) -> ModelPieces:
        try:
            found = [
                (one.start_char + part.start(), one.end_char + part.start(), one.label_)
                for part in CHUNK.finditer(text)
                for one in self.nlp(part[0]).ents
            ]
        except Exception:  # the message of spaCy may contain its input
            raise RequestError("the spaCy pipeline cannot be run on text") from None
        starts, ends, labels = zip(*found, strict=True) if found else ((), (), ())
        is_type = np.array(labels, dtype=object)[:, None] == np.array(self.types, dtype=object)
        odds = np.where(is_type, FAR, -FAR).astype(np.float32)
        return ModelPieces(np.array(starts, np.intp), np.array(ends, np.intp), odds)
