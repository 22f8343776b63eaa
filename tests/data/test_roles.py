"""A roles file gives every column one role; all its mistakes are named at once, without values."""

from __future__ import annotations

import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.data.roles import Roles

TEXT = """
subject = "person"

[columns]
person = "identifier"
age = "quasi"
zip = { role = "quasi", order = "zip3" }
seen = { role = "keep", date_shift_days = 30 }
"""


def write(folder, text, name="roles.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_both_forms_of_a_column_are_read(tmp_path):
    roles = Roles.read(write(tmp_path, TEXT))
    assert roles.subject == "person"
    assert roles.of("quasi") == ["age", "zip"]
    assert roles.of("identifier", "keep") == ["person", "seen"]
    assert roles.columns["zip"].settings == {"order": "zip3"}
    assert roles.columns["age"].settings == {}
    roles.check(["seen", "zip", "age", "person"])


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    assert Roles.read(write(tmp_path, "\ufeff" + TEXT)) == Roles.read(write(tmp_path, TEXT, "b"))


def test_roles_come_back_equal_from_json():
    roles = Roles.model_validate({"columns": {"zip": {"role": "quasi", "order": ["b", "a"]}}})
    assert Roles.model_validate(roles.model_dump(mode="json")) == roles


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[columns]\na = { by = "year" }\n', "columns.a.role: is absent"),
        ("[columns]\na = 3\n", "columns.a: is neither a role nor a table with one"),
        ('subjekt = "a"\n[columns]\na = "keep"\n', "subjekt: is not known here"),
        (
            'age = "quasi"\n',
            "the file lacks the section [columns]; "
            "list each column and its role below a line [columns]",
        ),
        (
            '[columns]\nage = "quasi"\nid = { role = "subject" }\n',
            "columns.id is at the wrong level: write the subject's column above [columns]; "
            'write subject = "id" above [columns], '
            'or in Python {"subject": "id", "columns": {...}}',
        ),
    ],
)
def test_mistakes_are_told_of_the_file_and_not_of_our_code(tmp_path, text, said):
    with pytest.raises(RequestError) as caught:
        Roles.read(path := write(tmp_path, text))
    assert str(caught.value) == f"{path}: {said}"


def test_a_source_without_columns_lacks_those_of_the_roles():
    with pytest.raises(RequestError, match="there is no column age"):
        Roles.model_validate({"columns": {"age": "quasi"}}).check([])


def test_an_absent_subject_brings_the_nearest_name_and_no_list_of_roles():
    roles = Roles.model_validate({"subject": "persn", "columns": {"person": "identifier"}})
    with pytest.raises(RequestError) as caught:
        roles.check(["person"])
    said = "roles: there is no subject column persn (did you mean person?)"
    assert str(caught.value) == said


def test_all_mistakes_are_named_at_once_and_no_value_is(tmp_path):
    text = '[columns]\nage = "quassi"\nzip = 5\nsubjekt = { rolle = "hush-hush" }\n'
    with pytest.raises(RequestError) as caught:
        Roles.read(write(tmp_path, text))
    said = str(caught.value)
    assert all(place in said for place in ("columns.age.role", "columns.zip", "columns.subjekt"))
    assert "quassi" not in said
    assert "hush-hush" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "columns"),
        ("[columns]\n", "1 or more entries"),
        ('subjects = "a"\n[columns]\na = "quasi"\n', "subjects"),
        ("[columns", "the file is not valid TOML"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, said):
    with pytest.raises(RequestError, match=said):
        Roles.read(write(tmp_path, text))


def test_an_absent_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(RequestError, match="write one with: voile inspect SOURCE --out"):
        Roles.read(tmp_path / "none.toml")
    with pytest.raises(RequestError, match="cannot be read"):
        Roles.read(tmp_path)
    (tmp_path / "latin").write_bytes("[columns]\nnaïve = 'quasi'".encode("latin-1"))
    with pytest.raises(RequestError, match="the file is not valid TOML"):
        Roles.read(tmp_path / "latin")


def test_a_column_without_a_role_is_an_error_and_so_is_a_role_without_a_column():
    roles = Roles.model_validate(
        {"subject": "who", "columns": {"age": "quasi", "zipp": "quasi", "gone": "drop"}}
    )
    with pytest.raises(RequestError) as caught:
        roles.check(["age", "zip", "income"])
    said = str(caught.value)
    for part in (
        "columns zip, income have no role",
        "there is no column zipp (did you mean zip?)",
        "there is no column gone",
        "there is no subject column who",
    ):
        assert part in said
    assert said.endswith(
        "; a role is one of quasi, sensitive, identifier, text, items, reading, "
        "private, known, weight, label, keep, drop"
    )
    Roles.model_validate({"columns": {"age": "quasi"}}).check(["age"])


def test_undecided_columns_are_named_with_the_roles_to_choose_from():
    roles = Roles.model_validate(
        {"columns": {"age": "undecided", "zip": "quasi", "note": "undecided"}}
    )
    with pytest.raises(RequestError) as caught:
        roles.check(["age", "zip", "note"])
    assert str(caught.value).startswith(
        "roles: columns age, note are undecided; a role is one of quasi, "
    )


def test_roles_do_not_change():
    roles = Roles.model_validate({"columns": {"age": "quasi"}})
    with pytest.raises(ValueError, match="frozen"):
        roles.subject = "age"
    with pytest.raises(ValueError, match="frozen"):
        roles.columns["age"].role = "keep"


def test_a_row_that_is_taken_for_the_header_is_not_told():
    roles = Roles.model_validate({"columns": {"age": "quasi", "text": "text"}})
    with pytest.raises(RequestError, match="none of the 2 columns") as caught:
        roles.check(["34", "Ana Ruiz came"])
    assert "Ana" not in str(caught.value)


def test_files_are_looked_for_beside_the_roles_file_also_inside_a_table(tmp_path):
    for name in ("places.csv", "order.txt"):
        (tmp_path / name).write_text("")
    text = (
        '[columns]\nzip = { role = "quasi", order = { near = "places.csv", within = "zip3" } }\n'
        'job = { role = "quasi", order = "order.txt" }\n'
        'town = { role = "quasi", order = { near = "elsewhere.csv" } }\n'
    )
    roles, paths = Roles.read(write(tmp_path, text)), ("order", "order.by", "order.near")
    given = Roles.model_validate(roles.model_dump())  # beside no file
    assert given.settings_of("job", paths) == {"order": "order.txt"}
    assert roles.settings_of("zip", paths) == {
        "order": {"near": str(tmp_path / "places.csv"), "within": "zip3"}
    }
    assert roles.settings_of("job", paths) == {"order": str(tmp_path / "order.txt")}
    assert roles.settings_of("town", paths) == {"order": {"near": "elsewhere.csv"}}
    assert roles.columns["zip"].settings["order"]["near"] == "places.csv"  # the file as it stands


def test_roles_are_what_a_user_has(tmp_path):
    roles = Roles.parse({"age": "quasi", "ward": {"role": "keep"}})
    assert (roles.of("quasi"), roles.of("keep"), roles.subject) == (["age"], ["ward"], None)
    assert Roles.parse(roles) is roles
    assert Roles.parse(str(write(tmp_path, TEXT))).subject == "person"
    whole = Roles.parse({"subject": "who", "columns": {"who": "identifier"}})
    assert (whole.subject, whole.of("identifier")) == ("who", ["who"])
    column = Roles.parse({"columns": {"role": "keep", "unit": "cm"}})
    assert column.of("keep") == ["columns"]  # a column may be called so
    with pytest.raises(RequestError, match=r"^roles: none are given; give a dictionary"):
        Roles.parse(None)
    with pytest.raises(RequestError, match="a list says no roles; give a dictionary"):
        Roles.parse(["age"])
    with pytest.raises(RequestError, match=r"columns\.age\.role"):
        Roles.parse({"age": "quassi"})


def test_roles_are_corrected_and_completed_beside_the_same_files(tmp_path):
    (tmp_path / "order.txt").touch()
    text = 'subject = "who"\n[columns]\nwho = "identifier"\njob = "keep"\n'
    roles = Roles.read(write(tmp_path, text))
    corrected = roles.corrected({"job": {"role": "quasi", "order": "order.txt"}})
    assert (corrected.of("quasi"), corrected.subject) == (["job"], "who")
    assert roles.corrected({}, subject="job").subject == "job"
    whole = corrected.completed(["job", "who", "note"], "drop")
    assert (whole.of("drop"), whole.of("quasi"), whole.subject) == (["note"], ["job"], "who")
    for one in (corrected, whole):
        assert one.settings_of("job", ["order"]) == {"order": str(tmp_path / "order.txt")}
    assert corrected.completed(["note"], None) is corrected


def test_a_correction_of_a_column_that_is_not_there_is_refused() -> None:
    roles = Roles.parse({"age": "keep", "zip": "keep", "name": "identifier"})
    with pytest.raises(RequestError) as refused:
        roles.corrected({"agee": "quasi", "zip": "quasi"}, subject="nmae")
    assert str(refused.value) == (
        "roles: there is no column agee (did you mean age?); "
        "there is no column nmae (did you mean name?)"
    )


def test_many_columns_without_a_role_are_named_in_one_sentence() -> None:
    with pytest.raises(RequestError, match=r"^roles: columns b, c, d, e have no role; give each"):
        Roles.parse({"a": "quasi"}).check("abcde")
    with pytest.raises(RequestError, match=r"^roles: columns b, c have no role; "):
        Roles.parse({"a": "quasi"}).check("abc")


@pytest.mark.parametrize(
    ("roles", "columns", "said"),
    [
        (dict.fromkeys(range(4), "quasi"), "01", "there are no columns 2, 3 (there is 0, 1)"),
        (dict.fromkeys(range(4), "undecided"), "0123", "columns 0, 1, 2, 3 are undecided; "),
        ({0: "quasi"}, "012", "columns 1, 2 have no role; "),
        (
            dict.fromkeys(range(2), "quasi"),
            dict.fromkeys("01", pa.struct({"a": pa.int64()})),
            "columns 0, 1 are of type struct; ",
        ),
        (dict.fromkeys(range(3), "quais"), "012", "columns.0.role, columns.1.role and columns.2"),
    ],
)
def test_a_mistake_in_columns_named_by_whole_numbers_is_reported_once(roles, columns, said):
    with pytest.raises(RequestError) as refused:
        Roles.parse(roles).check(columns)
    text = str(refused.value)
    assert text.startswith(f"roles: {said}")
    repeated = ("does not exist", "did you mean", "role is", "a struct", "undecided")
    assert all(text.count(words) <= 1 for words in repeated)


def test_roles_print_as_the_columns_of_each_corrected_or_not() -> None:
    roles = Roles.parse({"age": "quasi", "zip": "quasi", "name": "identifier"})
    corrected = roles.corrected({"zip": "drop"}, subject="name")
    assert str(roles).splitlines() == ["quasi:       age, zip", "identifier:  name"]
    assert str(corrected).splitlines() == [
        "subject:     name",
        "quasi:       age",
        "drop:        zip",
        "identifier:  name",
    ]


@pytest.mark.parametrize("number", [2, 5, 40])
def test_one_mistake_in_many_columns_is_one_sentence(number: int) -> None:
    columns = [f"c{i}" for i in range(number)]
    with pytest.raises(RequestError) as wrong:
        Roles.parse(dict.fromkeys(columns, "quas"))
    assert str(wrong.value).count("must be") == 1
    assert str(wrong.value).count(".role") <= 12
    decided = Roles.parse({"age": "quasi", **dict.fromkeys(columns, "undecided")})
    with pytest.raises(RequestError) as undecided:
        decided.check(["age", *columns])
    assert str(undecided.value).count("undecided") == 1
    with pytest.raises(RequestError) as absent:
        decided.check(["age"])
    assert str(absent.value).count("there ") <= 3 * 2


def test_columns_that_are_numbers_are_named_by_them() -> None:
    roles = Roles.parse({"subject": 0, "columns": {0: "identifier", 1: "quasi", "2": "keep"}})
    assert (roles.subject, list(roles.columns)) == ("0", ["0", "1", "2"])
    assert roles.corrected({1: "drop"}).of("drop") == ["1"]
    with pytest.raises(RequestError, match="there is no column 7"):
        roles.corrected({7: "drop"})
