"""Find the released leaf of each row of a source, with all rows of its person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source
from voile.tables.people.counts import Constraints
from voile.tables.people.records import PersonRecords, PersonRows
from voile.tables.recoding.plan import ColumnOutput
from voile.tables.recoding.recoder import RecodedBatch
from voile.tables.trees.climbing import climb
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.trees.tree import UNCUT, BoxTree
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions
from voile.tables.verbs.promises import least_people

ALONE = "a promise per person needs one process that reads all rows; fit with --promise row"


def refuse_row_options(options: ApplyOptions) -> None:
    """Raise an error for options that a policy per person does not support."""
    asked = {
        "--ledger": options.ledger is not None,
        "--marginals": options.marginals,
        "--recount": options.recount,
    }
    if given := [name for name, is_given in asked.items() if is_given]:
        raise RequestError(
            f"the kit promises per person, and {given[0]} needs a promise per row",
            instead=f"leave {given[0]} out, or fit with --promise row",
        )


@dataclass(frozen=True, eq=False)
class BoxedRows(BriefRepr):
    """The rows of a source that belong to people's records, and their leaves.

    Attributes
    ----------
    people : the rows, person by person.
    box : (rows of the source,) the node of each row by its number, or -1 for rows that are not
        released.
    """

    shows = ()

    people: PersonRows
    box: NDArray[np.int32]


def find_row_boxes(
    content: TablesContent, policy: PersonPolicy, source: Source, outputs: Sequence[ColumnOutput]
) -> BoxedRows:
    """Find the released node of each row of a source.

    Rows that are held out, outside a domain, or that no output can convert belong to no record. A
    person loses the last rows, or all, if too few people share the number of rows or the leaf. A
    leaf with too few people is replaced by its ancestor, or its people are suppressed. The source
    is read once. Memory: O(rows x columns).
    """
    rules, counted = content.space.constraints, _CountedRows(content, source, outputs)
    diverse = content.sensitive if rules.l_diversity > 1 else ()
    assert content.roles.subject is not None
    people = PersonRows.of(policy.domains, content.roles.subject, counted, diverse)
    box = np.full(counted.rows, UNCUT, dtype=np.int32)
    numbers = people.shared_numbers(least_people(rules.k, rules.max_risk), policy.numbers)
    for records in people.records(numbers):
        at = policy.numbers.index(records.number)
        stands = _stand(policy.pruned_trees[at], records, rules)
        shown = stands >= 0
        rows = people.row[records.rows[shown]]
        box[rows] = policy.row_boxes(at, stands[shown])
    return BoxedRows(people, box)


class _CountedRows:
    """The rows of a source that a release may show, with their numbers."""

    def __init__(
        self, content: TablesContent, source: Source, outputs: Sequence[ColumnOutput]
    ) -> None:
        self.rows = 0
        self._content, self._source, self._outputs = content, source, outputs

    def __iter__(self) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
        subject = self._content.roles.subject
        columns = [*(output.source for output in self._outputs), *filter(None, [subject])]
        made = [output for output in self._outputs if output.role != "quasi"]
        nothing = RecodedBatch(*(np.zeros((0, 0), np.int32),) * 2, np.zeros(0, np.bool_))
        for batch in self._source.batches(dict.fromkeys(columns)):
            row = np.arange(self.rows, self.rows + len(batch))
            fits = ~self._content.hold_out.find_held(batch, self.rows)
            for output in made:
                lost = output.make(batch, nothing)[1]
                fits &= True if lost is None else ~lost
            self.rows += len(batch)
            yield batch.filter(pa.array(fits)), row[fits]


def _stand(tree: BoxTree, records: PersonRecords, rules: Constraints) -> NDArray[np.int32]:
    """Return the released node for each record: its own leaf, an ancestor, or -1.

    Each of these nodes has enough people, and enough values of each sensitive column at each
    position.
    """
    own = tree.place(records.codes)
    order = np.argsort(own, kind="stable")
    ends = np.searchsorted(own[order], np.arange(len(tree) + 1))

    def is_allowed(boxes: NDArray[np.intp]) -> bool:
        inside = np.concatenate([order[ends[box] : ends[box + 1]] for box in boxes])
        if len(inside) < least_people(rules.k, rules.max_risk):
            return False
        shown = records.values[inside].reshape(len(inside), -1)
        return all(len(np.unique(one)) >= rules.l_diversity for one in shown.T)

    stands = climb(tree, np.bincount(own, minlength=len(tree)) > 0, is_allowed)
    return np.full(len(own), UNCUT, np.int32) if stands is None else stands[own]
