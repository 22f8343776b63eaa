"""Windows on a text's word pieces."""

from __future__ import annotations

from collections.abc import Iterator


def place_windows(pieces: int, room: int) -> Iterator[tuple[slice, slice]]:
    """Yield windows on pieces, and which part of each is its own, where it sees most around.

    Neighbouring windows share a quarter.

    >>> list(place_windows(3, 4)), list(place_windows(6, 4))
    ([(slice(0, 3, None), slice(0, 3, None))], \
[(slice(0, 4, None), slice(0, 3, None)), (slice(2, 6, None), slice(1, 4, None))])
    """
    if not pieces:
        return
    room = max(room, 1)
    step = room - room // 4
    starts = [*range(0, max(pieces - room, 0), step), max(pieces - room, 0)]
    ends = [min(start + room, pieces) for start in starts]
    cuts = [0, *((a + b) // 2 for a, b in zip(ends[:-1], starts[1:], strict=True)), pieces]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        yield slice(start, end), slice(cuts[number] - start, cuts[number + 1] - start)
