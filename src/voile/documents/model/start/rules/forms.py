"""Find dates, ages, numbers, addresses and places by their form in the text.

Each form is a regular expression over the normalised text, or a list with the words around it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from voile.documents.model.start.rules.date_forms import DATE_FORMS
from voile.documents.model.start.rules.physicians import PHYSICIAN, PhysicianForm
from voile.documents.model.start.rules.place_forms import PLACE_FORMS
from voile.documents.model.start.rules.text_form import (
    TextForm,
    make_form,
    make_form_after,
    make_number_after,
)
from voile.documents.model.start.rules.towns import TOWN, TownForm

_TENS = "(?:ninety|one[ -]hundred)"
_UNITS = "(?:one|two|three|four|five|six|seven|eight|nine)"
_OLD = "(?:9[0-9]|1[0-2][0-9])"
_FIGURES = re.compile(r"[0-9]\S*[0-9]")
_LABELS = (
    "mrn|medical record|record|chart|account|acct|acc|accession|specimen|order|case|claim|policy|"
    "member|group|license|licence|lic|dl|plate|vin|passport|npi|dea|bsn|nhs|device|serial|sn|lot|"
    "encounter|visit id|patient id|id|csn|fin|har|badge|certificate|hospital (?=no|num|#)|hosp|"
    "unit (?=no|num|#)|pt id|nhi|chi (?=no|num|#)|medicare|medicaid|mbi|insurance|subscriber|rx|"
    "prescription|ref|reference|req|requisition|lab (?=no|num|#)|study id|subject id|ssn|"
    "employee(?: id)?|student(?: id)?|tax id|tin|ein|implant|pathology|path|histology|bag|donor|"
    "imei|udi|model (?=no|num|#)|referral|episode|nhc|cip|nass|patnr|fallnr"
)
_VALUE = (
    r"(?!(?:19|20)[0-9]{2}\b(?!-))(?=[A-Za-z0-9/-]{4})(?=[A-Za-z-]{0,6}[0-9])"
    r"(?=[^ ]*[0-9][^ ]*[0-9])[A-Za-z0-9]+(?:[-/:.][A-Za-z0-9]+){0,4}"
    r"(?! ?(?:mg|ml|mcg|g|kg|mm|cm|units?|iu|tabs?|l|dl|%)\b)"
)

FORMS: tuple[TextForm | PhysicianForm, ...] = (
    *DATE_FORMS,
    make_form(
        "age over 89",
        "AGE",
        rf"{_OLD}[ -]?(?:years?|yrs?|y)(?:[ -/]?(?:old|o))?(?! (?:of (?!age)|ago|later))",
        rf"{_OLD} ?(?:yo|y/o|yof|yom)",
        rf"{_TENS}(?:[ -]{_UNITS})?(?:[ -]years?(?:[ -]old)?)",
        rf"{_OLD} ?(?:y\.o\.?|yr old|a[ñn]os|ans|anni|anos|Jahre|-?jährige[rn]?)",
        rf"{_OLD} ?(?:M|F)(?= (?:with|w/|p/w|s/p|presenting|who|h/o|hx|admitted|from|pt)\b)"
        r"(?<!9[5-9]F)(?<!9[5-9] F)(?<!10[0-9]F)(?<!10[0-9] F)",
        "nonagenarian|centenarian|supercentenarian",
    ),
    make_number_after(
        "age after a word",
        "AGE",
        r"(?:aged?|age of|age is|ages?:|edad(?: de)?|edad:|turned|turning|turns|Alter:?|âge:?"
        r"|età:?)[: ]+",
        rf"{_OLD}|{_TENS}(?:[ -]{_UNITS})?(?! ?(?:weeks|days|months|%|mg))",
    ),
    make_number_after(
        "age by tens",
        "AGE",
        "(?:in|into) (?:his|her|their|the) (?:early |mid |late |mid-)?",
        "(?:90|100)'?s|nineties|hundreds",
    ),
    make_form_after(
        "number after its label",
        "ID",
        rf"(?:{_LABELS})(?: ?(?:no|nr|num|number|sn|id|code))?[\"']?[.:#]*(?: is|=)? ?#? ?[\"']?",
        _VALUE,
        near=_FIGURES,
    ),
    make_form(
        "accession number",
        "ID",
        "[A-Z]{1,3}[0-9]{2}-[0-9]{3,7}",
        "(?:[A-Z]{1,3}-)?(?:20)?[0-9]{2}[-:][A-Z]{1,3}[-:]?[0-9]{3,8}",
        "[A-Z]{1,3}-(?:20)?[0-9]{2}-[0-9]{3,8}",
        "[A-Z]{1,2}[0-9]{6,10}",
        case=True,
    ),
    make_form(
        "long number",
        "ID",
        r"(?![0-9]*000(?![0-9]))[0-9]{7,12}(?![.,/-][0-9])"
        r"(?! ?(?:copies|cells|cfu|iu|units|per|/))",
    ),
    make_form(
        "vehicle number", "ID", "(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[A-HJ-NPR-Z0-9]{17}", case=True
    ),
    *PLACE_FORMS,
    PHYSICIAN,
)
"""The forms, which apply to figures and codes in any language."""
LISTS: tuple[TownForm, ...] = (TOWN,)
"""Forms with a lower priority than the rules, since a street may be named after a town."""
FORM_NAMES = tuple(form.name for form in (*FORMS, *LISTS))


def date_forms(label: str) -> tuple[TextForm, ...]:
    """Return the forms of dates, with the label of a corpus."""
    return tuple(replace(form, label=label) for form in DATE_FORMS)
