"""Bad input from the command line: one sentence, exit 2, no value told, nothing written."""

from __future__ import annotations

import pytest

from voile.cli.run import run

ROWS = ["1,0,p", "0,1,q", "1,1,p", "1,0,q"] * 3
ROLES = {"a": '"items"', "b": '"items"', "y": '"label"'}
BINARY = '{ role = "items", as = "binary" }'


def table(*more, head="a,b,y", rows=ROWS):
    return "\n".join([head, *rows, *more, ""])


@pytest.fixture
def fitted(tmp_path, capsys):
    """Fit a text under roles; give the exit code and what was said."""

    def fit(text, roles, *options, name="data.csv"):
        path, toml, kit = tmp_path / name, tmp_path / "roles.toml", tmp_path / "kit"
        path.write_text(text)
        columns = "\n".join(f'"{column}" = {role}' for column, role in roles.items())
        toml.write_text(f"[columns]\n{columns}\n")
        words = ["itemsets", "fit", path, "--roles", toml, "--out", kit, "--quiet", *options]
        code = run([str(word) for word in words])
        assert kit.exists() == (code == 0)
        return code, capsys.readouterr().err

    return fit


@pytest.mark.parametrize(
    ("text", "roles", "options", "said"),
    [
        (
            table("SECRET,1,p", "1,7,q", "9,0,q"),
            {**ROLES, "a": BINARY, "b": BINARY},
            [],
            "data.csv, row 13, column a: 2 cells hold a value other than 0 and 1",
        ),
        (table(",1,p"), ROLES, [], "row 13, column a: 1 cell holds a value other than 0 and 1"),
        (table(rows=["1,0,p", "0,1,p"]), ROLES, [], "the label has one class only"),
        (table(), ROLES, ["--k", "13"], "k is 13, and there are 12 subjects"),
        (table(), ROLES, ["--k", "0"], "--k: must be 1 or more"),
        (table(), ROLES, ["--k", "five"], "--k: must be a whole number"),
        (table(), ROLES, ["--k", "10"], "no feature meets a k of 10; the largest k that one"),
        (table(), ROLES, ["--m", "0"], "--m: must be 1 or more"),
        (table(), ROLES, ["--m", "2", "--method", "k-anonymity-distcnt"], "take no m"),
        (table(), ROLES, ["--method", "SECRE"], "--method: must be 'portfolio'"),
        (
            table(head="a,a,y"),
            {"a": '"items"', "y": '"label"'},
            [],
            "two columns have the same name",
        ),
        (
            "a,a=b,y\nb=SECRET,SECRET,p\nu,v,q\n",
            {"a": '"items"', "a=b": '"items"', "y": '"label"'},
            [],
            "columns a and a=b give a feature of one name",
        ),
        (table(rows=[]), ROLES, [], "data.csv: the source has column names and no rows"),
        ("", ROLES, [], "data.csv: the file is empty"),
        (table(rows=[",,p", ",,q"]), ROLES, [], "there is nothing in its columns of items"),
        (
            table("1,1,", "0,1,"),
            ROLES,
            [],
            "data.csv, row 13, column y: 2 labels are missing; leave such rows out with "
            "--drop-unlabelled",
        ),
        (table(rows=["1,0,", "0,1,"]), ROLES, ["--drop-unlabelled"], "no rows with a label"),
        (
            "a,y\n1,p\nSECRET,q\n",
            {"a": '{ role = "items", quantiles = 2 }', "y": '"label"'},
            [],
            "row 2, column a: 1 cell holds a value that is not a number; make it numbers",
        ),
        (
            'a,y\n"[""SECRET""]",p\nu,q\n',
            {"a": '"items"', "y": '"label"'},
            [],
            "column a: is text, some of it JSON lists or objects; give lists of texts",
        ),
        (table(), {**ROLES, "b": '"quasi"'}, [], "column b has the role quasi"),
        (table(), {**ROLES, "b": '"label"'}, [], "more than one column has the role label"),
    ],
)
def test_a_table_is_refused_in_one_sentence(fitted, text, roles, options, said):
    refused(fitted(text, roles, *options), said)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("data.dat", "1 2\n3 SECRET\n", "data.dat, line 2: has a value that is not a whole number"),
        (
            "data.dat",
            "1 2\n3 12345678901234567890\n",
            "data.dat, line 2: has a value that is not",
        ),
        ("data.dat", "\n\n", "there is nothing in its columns of items"),
        ("data.dat", "", "data.dat: the file is empty"),
        ("data.svm", "p 1:1\nq 2:0.5\n", "data.svm, line 2: is not a label with items"),
        ("data.svm", "p 1:1\np 2:1\n", "the label has one class only"),
    ],
)
def test_a_file_of_transactions_is_refused_in_one_sentence(fitted, name, text, said):
    roles = {"items": '"items"'} | ({"label": '"label"'} if name.endswith("svm") else {})
    refused(fitted(text, roles, name=name), said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "basket,item,y\n1,tea,p\n2,rum,q\n1,ale,SECRET\n",
            "data.csv, row 3, column y: the rows of one basket do not agree",
        ),
        ("basket,item,y\n1,tea,p\n,rum,q\n", "data.csv, row 2, column basket: a row is of no"),
        ("basket,item,y\n1,tea,p\n2,rum,\n", "data.csv, record 2, column y: 1 label is missing"),
    ],
)
def test_a_long_table_is_refused_in_one_sentence(fitted, text, said):
    item = '{ role = "items", record = "basket" }'
    refused(fitted(text, {"basket": '"identifier"', "item": item, "y": '"label"'}), said)


def refused(ran, said):
    code, told = ran
    assert code == 2
    assert said in told
    assert told.count("\n") == 1
    assert "SECRET" not in told


def test_what_may_be_left_out_is_left_out(fitted):
    assert fitted(table("1,1,", "0,1,"), ROLES, "--drop-unlabelled", "--k", "2") == (0, "")


def test_a_number_is_no_label(fitted):
    rows = [f"{i % 2},{i % 3 % 2},{i / 7}" for i in range(400)]
    refused(
        fitted(table(rows=rows), ROLES),
        "the label has 400 classes, and 50 are the most; cut a number into a few classes first",
    )


def test_a_knee_of_no_feature_is_refused_and_asked_for_by_number_warned_of(
    fitted, tmp_path, capsys
):
    """One k gives two policies, of which neither bends the frontier: the first has no feature."""
    assert fitted(table(), ROLES, "--k", "2") == (0, "")
    kit, policy, out = tmp_path / "kit", tmp_path / "policy.toml", tmp_path / "out.csv"

    def said(*words):
        return run(["itemsets", *map(str, words)]), capsys.readouterr().err

    refused(said("choose", kit, "--knee", "--out", policy), "where no feature is left")
    assert not policy.exists()
    code, told = said("choose", kit, "--policy", "0", "--out", policy)
    assert (code, told.count("this policy has no feature: labels")) == (0, 1)
    code, told = said("apply", kit, tmp_path / "data.csv", "--policy", policy, "--out", out)
    assert (code, told.count("this policy has no feature: labels")) == (0, 1)
