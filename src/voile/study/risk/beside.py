"""The rows of a source beside what other parts show of their people, before they are written.

No population counts what other tables and items show. So the people who agree with a person are
counted among the released ones, as they are when the release is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from voile.core.brief import Brief
from voile.data import Source
from voile.study.risk.joint import Ints, Mask, Records, places_in
from voile.tables.verbs.content import Content


@dataclass(frozen=True, eq=False)
class RowsBeside(Brief):
    """The rows that a policy may release.

    at : (rows,) the combination of each. whose : (rows,) a number for its person. beside : (rows,)
    a number for what other parts show of the person.
    """

    shows = ()

    at: Ints
    whose: Ints
    beside: Ints

    @classmethod
    def read(cls, content: Content, source: Source, beside: Mapping[str, int]) -> RowsBeside:
        """Read every row that is not held out and whose values are in their domains.

        beside : of each person, a number for what other parts show.
        """
        space, subject = content.space, str(content.roles.subject)
        codes, people, first = [], list[str](), 0
        for batch in source.batches([*dict.fromkeys([*space.quasi, subject])]):
            own = np.column_stack([d.codes(batch.column(d.column)) for d in space.domains])
            fits = ~content.hold_out.held(batch, first) & (own >= 0).all(axis=1)
            names = batch.column(subject).to_pylist()
            people += [str(names[n]) for n in np.flatnonzero(fits)]
            codes.append(own[fits])
            first += len(batch)
        whose = np.unique(np.array(people), return_inverse=True)[1].reshape(-1)
        shown = np.array([beside[one] for one in people], np.intp)
        return cls(places_in(space, np.concatenate(codes)), whose, shown)

    def records(self, released: Mask) -> Records:
        """Return those of released combinations, each the share of its person that it then is."""
        own = released[self.at]
        whose = self.whose[own]
        weights = 1 / np.bincount(whose)[whose]
        return Records(self.at[own], weights, self.beside[own])
