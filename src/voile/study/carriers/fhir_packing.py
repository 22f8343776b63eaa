"""Write the resources of a FHIR export to files by type, and count their outcomes.

A first pass makes each resource and stores it on disk. A second pass removes references to
resources that are not released. It also leaves out resources of no person without a reference from
a released resource.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voile.data.fhir.completing import IncompleteError, complete
from voile.data.fhir.exports import FoundResource
from voile.data.fhir.lines import ShuffledLines, encode_line
from voile.study.carriers import carrier
from voile.study.carriers.fhir_writing import FhirWriting, needs
from voile.study.carriers.row_limits import RowLimits

SUFFIX = ".ndjson"
NO_PERSON = "it names no patient, or several"
TWICE = "a resource with its id was there before"
GONE = "reference to a resource that is not released"
_REFERENCE = re.compile(rb'"reference":"([^"]+)"')


@dataclass
class FhirPacking:
    """The collection of released resources, to be written in files by type.

    Memory: the ids of withheld resources.
    """

    writing: FhirWriting
    scratch: Path
    limits: RowLimits
    tallies: dict[str, carrier.FileTally] = field(default_factory=dict)
    _lines: dict[str, ShuffledLines] = field(default_factory=dict)
    _shared: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Resources of no person, by type and by reference."""
    _gone: set[str] = field(default_factory=set)
    _written: set[str] = field(default_factory=set)
    _wanted: set[str] = field(default_factory=set)

    def consider(self, one: FoundResource) -> None:
        """Count a resource that can be released towards the row limits.

        The text of a note may be missing.
        """
        rule = self.writing.index.rules.get(one.kind)
        person = None if rule is None or rule.is_shared else self.writing.index.person_of(one)
        if rule is None or person is None:
            return
        with suppress(carrier.WithheldError):
            if not rule.notes:
                self.writing.make(one, person, {}, carrier.FileTally())
            self.limits.consider(one.kind, person, one.resource)

    def add(self, one: FoundResource) -> None:
        """Make one resource and store it, or count the reason to withhold it."""
        tally = self.tallies.setdefault(one.kind, carrier.FileTally())
        tally.read += 1
        rule = self.writing.index.rules.get(one.kind)
        if rule is None:
            tally.put_aside(None, carrier.NO_RULE)
            return
        person = None if rule.is_shared else self.writing.index.person_of(one)
        try:
            texts = self.writing.take_texts(one, person)
            self._refuse_twice(one)
            if person is None and not rule.is_shared:
                raise carrier.WithheldError(NO_PERSON)
            made = self.writing.make(one, person, texts, tally)
            if person is not None and not self.limits.keeps(one.kind, person, one.resource):
                raise carrier.WithheldError(carrier.ABOVE_MOST)
        except carrier.WithheldError as why:
            tally.put_aside(person, str(why))
            key = self.writing.index.key_of(one)
            if key is not None and str(why) != TWICE:
                self._gone.add(self.writing.reference_to(key))
            return
        if rule.is_shared:
            self._shared.setdefault(one.kind, {})[f"{one.kind}/{made['id']}"] = made
        else:
            self._lines_of(one.kind).add(made)
            tally.released += 1

    def write(self, folder: Path) -> Mapping[str, int]:
        """Write a file for each released type, and return the number of rows by file name."""
        while self._gone and self._put_incomplete_aside():
            pass
        rows = {}
        for kind in sorted(kind for kind, lines in self._lines.items() if len(lines)):
            rows[kind] = self._write_lines(kind, self._lines[kind], folder)
        self._follow_shared()
        for kind, held in sorted(self._shared.items()):
            lines, tally = self._lines_of(kind), self.tallies[kind]
            for reference, made in held.items():
                if reference in self._wanted:
                    lines.add(made)
                    tally.released += 1
                else:
                    tally.put_aside(None, carrier.UNUSED)
            if len(lines):
                rows[kind] = self._write_lines(kind, lines, folder)
        for kind, tally in self.tallies.items():
            tally.check(kind)
            assert tally.released == rows.get(kind, 0)
        return {f"{kind}{SUFFIX}": count for kind, count in rows.items()}

    def _refuse_twice(self, one: FoundResource) -> None:
        key = self.writing.index.key_of(one)
        if key in self.writing.index.twice:
            if key in self._written:
                raise carrier.WithheldError(TWICE)
            self._written.add(str(key))

    def _lines_of(self, kind: str) -> ShuffledLines:
        if kind not in self._lines:
            self._lines[kind] = ShuffledLines(self.scratch / f"{kind}.lines")
        return self._lines[kind]

    def _write_lines(self, kind: str, lines: ShuffledLines, folder: Path) -> int:
        rng = self.writing.released.chance.generator()
        return lines.write(folder / f"{kind}{SUFFIX}", rng, lambda line: self._resolve(kind, line))

    def _put_incomplete_aside(self) -> bool:
        """Withhold each resource that needs a withheld one. Return whether there was any.

        Memory: the numbers of these lines.
        """
        found = [
            (lines, number, kind, f"{kind}/{json.loads(line)['id']}", needed)
            for kind, lines in self._lines.items()
            for number, line in lines
            if (needed := self._find_missing(kind, line)) is not None
        ]
        for lines, number, kind, _, _ in found:
            lines.drop(number)
            self.tallies[kind].released -= 1
        shared = [
            (kind, reference, needed)
            for kind, own in self._shared.items()
            for reference, made in own.items()
            if (needed := self._find_missing(kind, encode_line(made))) is not None
        ]
        for kind, reference, _ in shared:
            del self._shared[kind][reference]
        for kind, reference, needed in (*(one[2:] for one in found), *shared):
            self.tallies[kind].put_aside(None, needs(needed))
            self._gone.add(reference)
        return bool(found or shared)

    def _find_missing(self, kind: str, line: bytes) -> str | None:
        """Return the required element that a resource lacks without its withheld references."""
        if not {one.decode() for one in _REFERENCE.findall(line)} & self._gone:
            return None
        try:
            complete(kind, json.loads(line), self._is_there)
        except IncompleteError as name:
            return str(name)
        return None

    def _is_there(self, reference: str) -> bool:
        return reference not in self._gone

    def _resolve(self, kind: str, line: bytes) -> bytes:
        """Remove the references to resources that were withheld later."""
        found = {one.decode() for one in _REFERENCE.findall(line)}
        gone = found & self._gone
        self._wanted |= found - gone
        if not gone:
            return line
        self.tallies[kind].dropped[f"{kind} ({GONE})"] += len(gone)
        return encode_line(complete(kind, json.loads(line), self._is_there))

    def _follow_shared(self) -> None:
        """Add the resources of no person that wanted resources refer to."""
        every = {ref: made for held in self._shared.values() for ref, made in held.items()}
        waiting = [one for one in every if one in self._wanted]
        while waiting:
            line = encode_line(every[waiting.pop()])
            for found in {one.decode() for one in _REFERENCE.findall(line)} - self._wanted:
                self._wanted.add(found)
                waiting += [found] if found in every else []
