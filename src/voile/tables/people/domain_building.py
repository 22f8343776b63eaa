"""Build one ordered domain for each quasi-identifier from the distinct cells of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.domains.domain import OUTSIDE, ValueDomain, build_domain
from voile.tables.domains.hierarchy import build_tree_domain, prefix_tree, read_tree
from voile.tables.domains.ordering import order_domain
from voile.tables.domains.pairs import check_pairs
from voile.tables.domains.parser import MOST_DECIMALS, CellParser
from voile.tables.domains.reading import choose_edges, choose_parser
from voile.tables.domains.settings import QuasiSettings
from voile.tables.people.combinations import QuasiCombinations


def build_domains(
    quasi: Sequence[str],
    sample: QuasiCombinations,
    populations: Sequence[QuasiCombinations],
    settings: Mapping[str, Mapping[str, Any]],
) -> tuple[ValueDomain, ...]:
    """Build one domain for each quasi-identifier from the values of sample and populations.

    Raises
    ------
    RequestError : the settings are wrong, or do not fit the values.
    """
    domains, wanted = [], {}
    for column in quasi:
        tables = [c for c in (sample, *populations) if column in c.columns]
        wanted[column] = QuasiSettings.check_settings(column, settings.get(column, {}))
        domains.append(_build(column, tables, wanted[column]))
    pairs = {column: asked.pair for column, asked in wanted.items() if asked.pair is not None}
    check_pairs(domains, pairs, [sample, *populations])
    return tuple(domains)


def _build(column: str, tables: Sequence[QuasiCombinations], wanted: QuasiSettings) -> ValueDomain:
    cells = [table.distinct(column) for table in tables]
    domain = _covering(_build_ordered_domain(column, tables, cells, wanted), cells)
    return replace(domain, declared=_mark_declared(domain, cells[1:], wanted))


def _build_ordered_domain(
    column: str,
    tables: Sequence[QuasiCombinations],
    cells: Sequence[pa.Array],
    wanted: QuasiSettings,
) -> ValueDomain:
    raw = [value for array in cells for value in array.to_pylist()]
    tree = read_tree(wanted)
    if tree is not None or wanted.order == "prefix":
        texts = [CellParser("listed", missing=wanted.missing)(cell) for cell in raw]
        rows = prefix_tree(map(str, filter(None, texts))) if tree is None else tree
        return build_tree_domain(column, rows, nullable=None in texts, missing=wanted.missing)
    parser = choose_parser(column, cells, wanted, tables[0].rows_of(column))
    parser = _with_bins(tables[0], column, parser, wanted)
    if parser.edges:
        raw = [None] * any(_has_null(array, parser) for array in cells)
    domain = build_domain(column, raw, parser, fill=wanted.filling)
    subjects = _by_value(domain, tables[0])
    people = _by_value(domain, tables[-1]) if len(tables) > 1 else None
    return order_domain(domain, subjects, people, wanted.order)


def _with_bins(
    sample: QuasiCombinations, column: str, parser: CellParser, wanted: QuasiSettings
) -> CellParser:
    """Return the parser with the requested bins, and with bins for decimals of many values."""
    parser = replace(parser, bottom=wanted.bottom, top=wanted.top)
    if wanted.edges:
        whole = all(edge == int(edge) for edge in wanted.edges)
        return replace(parser, edges=wanted.edges, kind=parser.kind if whole else "decimal")
    if wanted.bins is None and parser.kind != "decimal":
        return parser
    numbers, subjects = sample.numbers(column, parser)
    bins = wanted.bins or (MOST_DECIMALS if len(numbers) > MOST_DECIMALS else 1)
    return replace(parser, edges=choose_edges(numbers, subjects, bins, parser))


def _has_null(array: pa.Array, parser: CellParser) -> bool:
    plain = pa.types.is_floating(array.type) and not parser.missing
    cells = () if plain else array.drop_null().to_pylist()
    return bool(array.null_count) or any(parser(raw) is None for raw in cells)


def _mark_declared(
    domain: ValueDomain, public: Sequence[pa.Array], wanted: QuasiSettings
) -> tuple[bool, ...]:
    """Return whether each value is public: named in an order or tree, else in a population."""
    if domain.parser.edges:
        return ()
    if wanted.names_values:
        return tuple(value is not None for value in domain.values)
    places = np.concatenate([np.zeros(0, np.int32), *(domain.codes(array) for array in public)])
    found: list[bool] = np.isin(np.arange(len(domain)), places).tolist()
    return tuple(found)


def _by_value(domain: ValueDomain, counted: QuasiCombinations) -> NDArray[np.float64]:
    codes = domain.codes(counted.table.column(domain.column))
    total = np.bincount(codes, weights=counted.count, minlength=len(domain))
    return total.astype(np.float64)


def _covering(domain: ValueDomain, cells: Sequence[pa.Array]) -> ValueDomain:
    lacking = {
        str(value)
        for array in cells
        for value in array.filter(pa.array(domain.codes(array) == OUTSIDE)).to_pylist()
    }
    if lacking:
        raise RequestError(
            f"{len(lacking):,} values of the data are not in the order or hierarchy given",
            where=f"column {domain.column}",
            instead="add them, written as in the data",
        )
    return domain
