"""Examples of `replacements/kinds`."""

from __future__ import annotations

from voile.documents.replacements.kinds import kind_of, name_types, safe_label


def test_examples_of_safe_label():
    assert (safe_label("Phone number"), safe_label("Título"), safe_label("--")) == (
        "PHONE_NUMBER",
        "TITULO",
        "REMOVED",
    )


def test_examples_of_kind_of():
    assert (kind_of("NOMBRE_SUJETO_ASISTENCIA"), kind_of("Phone number"), kind_of("GENOME")) == (
        "name",
        "number",
        "other",
    )
    assert [
        kind_of(label) for label in ("patientName", "LASTNAME1", "HOSPITAL_NAME", "DRUG_NAME")
    ] == ["name", "name", "organisation", "other"]


def test_examples_of_name_types():
    assert sorted(name_types(["PER", "CITY", "WARD"], {"WARD": "name"})) == ["PER", "WARD"]
