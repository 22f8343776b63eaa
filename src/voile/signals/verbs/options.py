"""What `fit`, `apply` and `attack` can be told; the command line makes one option of each field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from voile.data import Place
from voile.release.options import Options, Pseudonymous

Method = Literal["transport", "normal", "exponential", "gamma", "uniform", "affine"]
Base = Literal["normal", "uniform", "barycentre"]
Share = Annotated[float, Field(ge=0, le=1)]
TENTHS = tuple(tenth / 10 for tenth in range(11))


class FitOptions(Options):
    """Which maps are learnt, and which policies are compared."""

    method: tuple[Method, ...] = Field(
        (), description="how maps are learnt; may be given again [transport]"
    )
    base: tuple[Base, ...] = Field(
        (), description="what messages look like; may be given again [all three are tried]"
    )
    strength: tuple[Share, ...] = Field(
        (), description="how far maps go, 0 to 1; may be given again [every tenth is tried]"
    )
    time: str | None = Field(
        None, description="column that orders a subject's readings: then sequences are learnt too"
    )
    epsilon: float | None = Field(
        None,
        gt=0,
        description="learn maps under differential privacy; the roles file gives bounds",
    )
    beliefs: Place | None = Field(
        None,
        description="table of what an eavesdropper thinks of each subject beforehand: a column of "
        "subjects, and one of chances for each class",
    )
    bits: float | None = Field(
        None, ge=0, description="refuse unless some policy tells at most so many bits, 95% sure"
    )
    hold_out: float = Field(
        0.0, ge=0, lt=1, description="share of subjects set aside before anything is learnt"
    )

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods tried, each once."""
        return tuple(dict.fromkeys(self.method)) or ("transport",)

    @property
    def bases(self) -> tuple[Base, ...]:
        """The bases tried, each once; the first is what strength 0 is told by."""
        return tuple(dict.fromkeys(self.base)) or ("barycentre", "normal", "uniform")

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths tried, rising."""
        return tuple(sorted(set(self.strength))) or TENTHS


class ApplyOptions(Pseudonymous):
    """How the release is written."""

    missing: Literal["set-aside", "pass"] = Field(
        "set-aside", description="what becomes of rows with a missing or infinite reading"
    )
    places: int | None = Field(
        None, ge=0, le=12, description="decimal places of what is sent, else float64 at its finest"
    )
    no_pseudonyms: bool = Field(
        False, description="name subjects anew for this release alone, without a secret"
    )


class AttackOptions(Options):
    """What the adversary holds and knows."""

    public_map: Path | None = Field(
        None, description="kit whose maps the adversary knows, of every class"
    )
    knows: tuple[str, ...] = Field((), description="kept columns that the adversary knows as well")
    control: Place | None = Field(None, description="people who are not in the release")
    beliefs: Place | None = Field(
        None,
        description="table of what the adversary thinks of each subject beforehand: a column of "
        "subjects, and one of chances for each class",
    )
    permutations: int = Field(100, ge=0, description="permutations for the bits of no leakage")
