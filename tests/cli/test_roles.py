"""`voile roles` corrects a roles file in its place, and nothing else in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Voile

from voile.data.roles import Roles

FILE = """# read it and correct it

subject = "who"  # rows with one value are one person's

[columns]
who = "identifier"  # a code
"date of birth" = { role = "quasi", by = "year" }  # an age
"a=b" = "keep"
zip = "quasi"

[columns."weird.name"]
role = "drop"
"""


@pytest.fixture(params=["\n", "\r\n"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "my roles.toml"
    path.write_bytes(FILE.replace("\n", request.param).encode("utf-8-sig"))
    return path


def test_a_role_is_set_and_the_other_lines_stay(voile: Voile, file: Path) -> None:
    changes = ("zip=drop", "date of birth=quasi, by = month", "weird.name=keep", "a=b=sensitive")
    ran = voile("roles", file, *(word for one in changes for word in ("--set", one)))
    assert (ran.code, ran.err) == (0, f"{file}: corrected\n")
    roles = Roles.read(file)
    assert {name: one.role for name, one in roles.columns.items()} == {
        "who": "identifier",
        "date of birth": "quasi",
        "a=b": "sensitive",
        "zip": "drop",
        "weird.name": "keep",
    }
    assert roles.settings_of("date of birth") == {"by": "month"}
    kept = file.read_text()
    assert "# read it and correct it" in kept
    assert "# a code" in kept
    assert "# an age" not in kept


@pytest.mark.parametrize("subject", ["zip", ""])
def test_the_subject_is_set_or_taken_out(voile: Voile, file: Path, subject: str) -> None:
    assert voile("roles", file, "--subject", subject).code == 0
    assert Roles.read(file).subject == (subject or None)
    assert voile("roles", file, "--subject", "who").code == 0
    assert Roles.read(file).subject == "who"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "zp=drop"), "did you mean zip?"),
        (("--set", "zip"), "write COLUMN=ROLE"),
        (("--set", "zip=quaasi"), "did you mean quasi?"),
        (("--set", "zip=quasi,by"), "write SETTING=VALUE"),
        (("--subject", "whom"), "did you mean who?"),
    ],
)
def test_a_mistake_changes_nothing(
    voile: Voile, file: Path, words: tuple[str, ...], said: str
) -> None:
    before = file.read_bytes()
    ran = voile("roles", file, *words)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert file.read_bytes() == before


def test_a_file_of_another_kind_is_not_rewritten(voile: Voile, tmp_path: Path) -> None:
    other = tmp_path / "pyproject.toml"
    other.write_text("[project]\nname = 'x'\n")
    assert voile("roles", other, "--set", "name=drop").code == 2
    assert other.read_text() == "[project]\nname = 'x'\n"


def test_without_a_change_the_roles_are_shown(voile: Voile, file: Path) -> None:
    shown = voile("roles", file)
    assert shown.out.splitlines()[1] == "who\tidentifier\t"
    assert voile("roles", file, "--json").json["columns"]["zip"] == {"role": "quasi"}
