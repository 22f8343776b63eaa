"""Provide one case for each listed kind of data, so that a new kind gets all contract tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from voile.core.evidence import Evidence
from voile.core.progress import silent
from voile.data import Source, open_source
from voile.face.kit import Kit
from voile.face.release import Release
from voile.modules import MODULES, find_module
from voile.release.choice import Choice, Chosen
from voile.release.module import AnyModule

SEED = 11
TINY = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Case:
    """A wing with a tiny source to work on.

    tiny : `tests/contracts/KIND.py`: `roles()`; `ordinary()`, a table with canaries in what never
        leaves; `limits()`, name -> (table, whether it can be worked on); `outside(table, canary)`;
        `options(folder)`, the settings of each verb; `LIMIT`, the limit of a `Choice` that is on
        the frontier's own risk; `OWN_ROLES`, the roles that other wings have not; `NAMED_BY`, the
        tables beside the frontier's that choosing reads.
    """

    kind: str
    tiny: Any
    folder: Path

    @cached_property
    def module(self) -> AnyModule:
        return find_module(self.kind)

    @cached_property
    def options(self) -> dict[str, dict[str, Any]]:
        return self.tiny.options(self.folder)

    @cached_property
    def table(self) -> pa.Table:
        return self.tiny.ordinary()

    @cached_property
    def kit(self) -> Kit:
        return self.fit(self.table)

    def fit(self, thing: Any, *, how: str = "fit", seed: int = SEED) -> Kit:
        options = self.module.options.fit.model_validate(self.options[how])
        source = open_source(thing)
        return Kit.of(
            self.module.fit(source, self.tiny.roles(), options, seed=seed, progress=silent),
            self.module,
        )

    def middle(self, kit: Kit | None = None) -> Chosen:
        kit = kit or self.kit
        return self.module.choose(kit, Choice(policy=kit.facts["policies"] // 2))

    def within(self, risk: float) -> Chosen:
        return self.module.choose(self.kit, Choice(**{self.tiny.LIMIT: risk}))

    def apply(
        self,
        out: Path,
        *,
        thing: Any = None,
        kit: Kit | None = None,
        chosen: Chosen | None = None,
        force: bool = False,
        **options: Any,
    ) -> Release:
        kit = kit or self.kit
        source = (
            thing
            if isinstance(thing, Source)
            else open_source(self.table if thing is None else thing)
        )
        release = self.module.apply(
            kit,
            chosen or self.middle(kit),
            source,
            out,
            self.module.options.apply.model_validate({**self.options["apply"], **options}),
            force=force,
            progress=silent,
        )
        return Release.of(release, self.module)

    def attack(self, release: Release, *, seed: int = SEED) -> tuple[Evidence, ...]:
        options = self.module.options.attack.model_validate(self.options["attack"])
        truth = open_source(self.table)
        return self.module.attack(release, truth, options, seed=seed, progress=silent)

    def another(self, chosen: Chosen) -> Chosen:
        """Return a policy that was chosen from some other kit."""
        return replace(chosen, kit="0" * 16)


@pytest.fixture(params=sorted(MODULES), scope="session")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    kind = request.param
    spec = spec_from_file_location(f"tiny_{kind}", TINY / f"{kind}.py")
    assert spec is not None
    assert spec.loader is not None
    tiny = module_from_spec(spec)
    spec.loader.exec_module(tiny)
    return Case(kind, tiny, tmp_path_factory.mktemp(kind))
