"""The command `voile KIND frontier`: a kit's policies as a table, tab-separated lines or JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from voile.cli.screen import CommandScreen, show_table

if TYPE_CHECKING:
    from voile.release.kit import StoredKit
    from voile.release.module import AnyModule

ROWS = 20


def frontier(screen: CommandScreen, kit: StoredKit, module: AnyModule, *, all: bool) -> None:
    """Show 20 evenly spread policies, or `all` policies.

    The table shows columns of numbers and single texts. JSON also contains lists of numbers. Other
    columns are left out: encoded policies are unreadable, and lists of texts or records may contain
    words of the data.
    """
    import pyarrow as pa

    from voile.face.frontier import KitFrontier

    shown, caveat = KitFrontier(kit, module).to_arrow(), kit.facts.get("caveat")
    if screen.json:
        result = {"kind": kit.kind, "kit": kit.id, "policies": shown.to_pylist()}
        known = {"reference_policies": "mark_scores", "absent": "absent", "limits": "constraints"}
        result |= {name: kit.facts[fact] for name, fact in known.items() if fact in kit.facts}
        screen.result({**result, **({"caveat": caveat} if caveat else {})})
        return
    flat = [f.name for f in shown.schema if not pa.types.is_nested(f.type)]
    shown = shown.select(flat)
    rows = list(zip(*shown.to_pydict().values(), strict=True))
    show_table(flat, rows if all else pick_spread(rows, ROWS), sys.stdout)
    if caveat:
        screen.insist(f"voile: {caveat}")
    if not all and len(rows) > ROWS:
        screen.say(f"{ROWS} of {len(rows):,} policies; --all shows every one")


def pick_spread(rows: Sequence[Any], most: int) -> list[Any]:
    """Pick at most `most` rows at even distances, including the first and the last row.

    >>> pick_spread(range(10), 4), pick_spread("ab", 4)
    ([0, 3, 6, 9], ['a', 'b'])
    """
    if len(rows) <= most:
        return list(rows)
    return [rows[round(i * (len(rows) - 1) / (most - 1))] for i in range(most)]
