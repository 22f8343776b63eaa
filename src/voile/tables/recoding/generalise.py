"""Apply a policy to a data frame in Python, without writing files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import open_source, to_frame
from voile.keys.random import ProtectiveRandom
from voile.tables.policies.family import AnyPolicy
from voile.tables.recoding.published import PublishedPolicy
from voile.tables.recoding.published_boxes import PublishedBoxes
from voile.tables.recoding.recoder import BatchRecoder, RecodedBatch
from voile.tables.trees.policy import TreePolicy

FRAMES: dict[str, Literal["pandas", "polars"]] = {"pandas": "pandas", "polars": "polars"}


def generalise(
    policy: AnyPolicy, data: Any, *, keep: Sequence[str] = (), keep_order: bool = False
) -> Any:
    """Return a table with a policy's intervals in place of its quasi-identifiers.

    The result contains only the quasi-identifiers and the columns in `keep`. This function does not
    suppress, certify or write anything. `voile tables apply` does that.

    Parameters
    ----------
    data : any input of `open_source`.
    keep : the columns to return unchanged.
    keep_order : whether to keep the order of the rows, which links two releases. Otherwise the rows
        are shuffled.

    Returns
    -------
    frame : a data frame of the input's type, or an Arrow table for other inputs.

    Raises
    ------
    RequestError : a row has a value outside its domain. The message contains the number of rows and
        the column.

    Cost: the whole table in memory.

    >>> from voile.tables.fitting.space import PolicySpace
    >>> people = pa.table({"age": [30, 31, 45], "name": ["a", "b", "c"]})
    >>> space = PolicySpace.of(people, quasi=["age"])
    >>> generalise(space.policy(space.top), people).to_pydict()
    {'age': ['any', 'any', 'any']}
    """
    source = open_source(data)
    columns = [*(domain.column for domain in policy.domains), *keep]
    table = source.read(columns)
    batch = table.combine_chunks().to_batches()
    rows = batch[0] if batch else pa.RecordBatch.from_pylist([], table.schema)
    recoded = BatchRecoder(policy)(rows)
    for place, domain in enumerate(policy.domains):
        if outside := int((recoded.intervals[:, place] < 0).sum()):
            raise RequestError(
                f"{outside:,} rows have a value outside the policy's domain",
                where=f"column {domain.column}",
                instead="leave them out, or make the policy with them",
            )
    seen = [
        np.isin(np.arange(len(domain)), values)
        for domain, values in zip(policy.domains, recoded.values.T, strict=True)
    ]
    published = _publish_policy(policy, seen, recoded)
    for place, domain in enumerate(policy.domains):
        (labels,) = published.write_cells(domain.column, recoded.intervals[:, place])
        at = table.column_names.index(domain.column)
        table = table.set_column(at, domain.column, labels.cast(pa.string()))
    if not keep_order:
        order = ProtectiveRandom().generator().permutation(table.num_rows)
        table = table.take(pa.array(order))
    return to_frame(table, like=FRAMES.get(source.kind, "arrow"))


def _publish_policy(
    policy: AnyPolicy, seen: list[NDArray[np.bool_]], recoded: RecodedBatch
) -> PublishedPolicy | PublishedBoxes:
    """Return the published form of a policy, for groups of any size."""
    if not isinstance(policy, TreePolicy):
        return PublishedPolicy.of(policy, seen)
    leaves, used = policy.pruned_tree.leaves, np.unique(recoded.intervals[:, 0])
    stands = np.full(len(leaves), -1, dtype=np.int32)
    stands[used] = leaves[used]
    return PublishedBoxes.of(policy, seen, stands)
