"""Each source column has one fate, and none is omitted."""

from __future__ import annotations

import pytest

from voile.data.roles import Roles
from voile.determination.inventory import list_treatments
from voile.release.inventory import list_fates

ROLES = Roles.model_validate(
    {
        "columns": {
            "name": "identifier",
            "age": "quasi",
            "zip": "quasi",
            "ward": "keep",
            "tea": "items",
        }
    }
)
RELEASED = [
    {"column": "name", "role": "identifier", "what": "pseudonym, of this release alone"},
    {"column": "age_low", "from": "age", "role": "quasi", "what": "the least value"},
    {"column": "zip", "from": "zip", "role": "quasi", "what": "generalised to intervals"},
    {"column": "ward", "role": "keep", "what": "as in the source"},
    {"column": "class", "role": "identifier", "what": "random"},
]


def test_each_column_has_a_fate():
    columns = ["name", "age", "zip", "ward", "tea", "unread"]
    assert list_fates(columns, ROLES, RELEASED, ["zip"]) == {
        "name": "replaced",
        "age": "generalised",
        "zip": "suppressed",
        "ward": "released",
        "tea": "suppressed",
        "unread": "read by nobody",
    }


def test_a_released_column_of_no_source_column_stops_the_release():
    with pytest.raises(AssertionError, match="5 columns have a fate, and the source has 4"):
        list_fates(["name", "age", "zip", "ward"], ROLES, [*RELEASED, {**RELEASED[2], "from": "x"}])


def test_a_determination_lists_a_column_that_nobody_read():
    private = {"roles": {"columns": {"ward": {"role": "keep"}}}}
    private["inventory"] = {"ward": "released", "unread": "read by nobody"}
    public = {"columns": [RELEASED[3]]}
    found = {one.column: one.treatment for one in list_treatments({"": (public, private)}, {})}
    assert found == {"ward": "released as in the source", "unread": "read by nobody"}
