"""The input and output of an encoder's graph, and windows over the word pieces of a text."""

from __future__ import annotations

from collections.abc import Iterator


def place_windows(pieces: int, room: int) -> Iterator[tuple[slice, slice]]:
    """Yield each window over the pieces, and the part of it that has the most context.

    The parts do not overlap and cover all pieces. Neighbouring windows share a quarter of a full
    window, and all windows have about the same size.

    >>> list(place_windows(3, 4)), list(place_windows(5, 4))
    ([(slice(0, 3, None), slice(0, 3, None))], \
[(slice(0, 3, None), slice(0, 2, None)), (slice(2, 5, None), slice(0, 3, None))])
    """
    if not pieces:
        return
    room = max(room, 1)
    shared = room // 4
    number = max(-(-(pieces - shared) // (room - shared)), 1)
    size = -(-(pieces + (number - 1) * shared) // number)
    starts = [place * (pieces - size) // max(number - 1, 1) for place in range(number)]
    ends = [start + size for start in starts]
    cuts = [0, *((a + b) // 2 for a, b in zip(ends[:-1], starts[1:], strict=True)), pieces]
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        yield slice(start, end), slice(cuts[place] - start, cuts[place + 1] - start)


PIECES, POSITIONS, VECTORS = "pieces", "positions", "vectors"
"""The inputs of the graph, both (p,), and its output, (p, width)."""
