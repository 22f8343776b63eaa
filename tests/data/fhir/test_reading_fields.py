"""FHIR: the file that says which code and unit each column has."""

from __future__ import annotations

import pytest

from voile.core.errors import RequestError
from voile.data.fhir.reading_fields import ReadingField, read_fields

FIELDS = (ReadingField("height", "8302-2", "cm"), ReadingField("weight", "29463-7", "kg"))
NAMES = [one.column for one in FIELDS]


def test_fields_are_read_from_a_file(tmp_path):
    path = tmp_path / "fields.toml"
    path.write_text(
        '[weight]\ncode = "29463-7"\nunit = "kg"\n[height]\ncode = "8302-2"\nunit = "cm"\n'
    )
    assert read_fields(path, NAMES) == FIELDS
    for text, message in (
        ("", "column height lacks its code or its unit"),
        ('[height]\ncode = "1"\n', "column height lacks its code or its unit"),
        ('[heigth]\ncode = "1"\nunit = "cm"\n', "no column heigth; did you mean height"),
        ('[height]\ncode = 1\nunit = "cm"\n', "wrong type"),
        ('[height]\ncode = "1"\nunit = "cm"\ndecimals = 1.5\n', "wrong type"),
        (
            '[height]\ncode = "1"\nunit = "cm"\ndecimals = 99\n',
            'decimals must be a number of decimal places or "shortest"',
        ),
        ("[height", "the file is not valid TOML"),
    ):
        path.write_text(text)
        with pytest.raises(RequestError, match=message):
            read_fields(path, NAMES)
    with pytest.raises(RequestError, match="cannot be read"):
        read_fields(tmp_path / "absent", NAMES)
