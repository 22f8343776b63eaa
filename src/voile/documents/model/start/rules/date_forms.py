"""Find dates by their form: in figures, in words, and short dates such as 9/6 after a cue.

A short date needs a cue, since blood pressures, strengths and scores look alike.
"""

from __future__ import annotations

import re

from voile.documents.model.start.rules.text_form import (
    TextForm,
    make_form,
    make_form_after,
    make_number_after,
)

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May|MAY)|(?<=on )may"
    "|may(?= [0-9]{1,2},? (?:19|20))|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_IN_YEAR, _DAY = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = "(?:19|20)[0-9]{2}"
_ORDINAL = f"{_DAY}(?:st|nd|rd|th)?"
_TIME = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_CUES = """
on since from until till through thru dated date by before after due again visit appt f/u fu
followup follow-up seen admit admitted adm d/c discharged disch started began placed returned
scheduled resulted collected drawn received last next
"""
_CUE = f"(?:{'|'.join(map(re.escape, _CUES.split()))})"
_SHORT = f"{_IN_YEAR}[/-]{_DAY}"
_FULL_MONTH = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
)
_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "thirtieth",
)
_ORDINAL_WORD = f"(?:(?:twenty|thirty)[ -])?(?:{'|'.join(_ORDINALS)})"
_SPANISH_DAYS = (
    "(?:primero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce"
    "|quince|diecis[ée]is|diecisiete|dieciocho|diecinueve|veinte|veinti[a-zúóé]+"
    "|treinta(?: y uno)?)"
)
_SPANISH_MONTHS = (
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
)
_SPANISH_MONTH = f"(?:{'|'.join(_SPANISH_MONTHS)})"
_OTHER_MONTH = (
    "(?:januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet"
    "|août|septembre|octobre|novembre|décembre|gennaio|febbraio|aprile|maggio|giugno|luglio"
    "|settembre|ottobre|dicembre|(?:de )?(?:janeiro|fevereiro|março|maio|junho|julho|setembro"
    "|outubro|dezembro))"
)
_MEASURED = (
    "BP|HR|RR|T|Temp|Tmax|P|Pulse|SpO2|O2|Wt|Ht|VS|vitals|WBC|Hgb|HGB|Hct|Plt|Na|K|Cr|BUN|INR|CRP"
    "|glucose|A1c|CXR|CT|MRI|EKG|ECG|echo|Echo|labs|Labs|culture|cultures|bcx|ucx|MRSA|seen|stable"
)
_SCORE = "(?:[0-5]/5|[1-6]/6|[0-9]+/10|[1-4]/4|[12]/2|[1-3]/3)(?![0-9])"
_NO_SCORE = "(?![/-]?[0-9]| ?(?:of |out of |strength|pain|systolic|murmur|mg|hours|hrs))"

DATE_FORMS = (
    make_form("ISO date", "DATE", rf"{_YEAR}-[01][0-9]-[0-3][0-9]{_TIME}"),
    make_form("date with stops", "DATE", rf"{_YEAR}([./]){_IN_YEAR}\1{_DAY}(?![./][0-9])"),
    make_form("date without signs", "DATE", f"{_DAY}{_MONTH}(?:{_YEAR}|[0-9]{{2}})"),
    make_form("eight figures", "DATE", rf"{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"),
    make_form("month and year", "DATE", f"{_IN_YEAR}/{_YEAR}"),
    make_form(
        "day of a month",
        "DATE",
        rf"{_MONTH}\.? (?:the )?{_ORDINAL}(?:,? {_YEAR})?(?! ?(?:mg|ml|%))",
        rf"{_DAY}(?:st|nd|rd|th) (?:of )?{_MONTH}\b\.?(?:,? {_YEAR})?",
    ),
    make_form(
        "day in words",
        "DATE",
        rf"{_ORDINAL_WORD} (?:day )?of {_MONTH}\b(?:,? {_YEAR})?",
        rf"{_MONTH} (?:the )?{_ORDINAL_WORD}\b(?:,? {_YEAR})?",
        needs=_ORDINALS,
    ),
    make_form(
        "día en palabras",
        "DATE",
        rf"(?:{_SPANISH_DAYS}|{_DAY}) de {_SPANISH_MONTH}(?: (?:de|del) {_YEAR})?",
        needs=tuple(f" de {month}" for month in _SPANISH_MONTHS),
    ),
    make_form("day and month", "DATE", rf"{_DAY}\.? {_OTHER_MONTH}(?: {_YEAR})?"),
    make_form_after(
        "month alone",
        "DATE",
        "(?:[Ii]n|[Ss]ince|[Dd]uring|last|early|mid|late|until|through|by|before|after|from|of|this"
        "|next)[ -]",
        f"(?:{_FULL_MONTH})(?! [0-9])",
        case=True,
    ),
    make_form_after(
        "mes",
        "DATE",
        "(?:en|desde|hasta|durante|pasado|mes de|finales de|principios de) ",
        f"{_SPANISH_MONTH}",
    ),
    make_number_after(
        "day.month.", "DATE", "(?:am|vom|seit|bis|zum|ab|den) ", rf"{_DAY}\.{_IN_YEAR}\.(?![0-9])"
    ),
    make_number_after(
        "día/mes",
        "DATE",
        "(?:el|del|desde el|hasta el|día|dia|le|du|il|dal|em|no dia) ",
        rf"{_DAY}/{_IN_YEAR}(?![/-]?[0-9]| (?:de|of|del) )",
    ),
    TextForm(
        "date before a measurement",
        "DATE",
        re.compile(
            rf"(?:^|[\n;,(.]) ?(?P<found>{_SHORT})(?![0-9/-])(?=:? -? ?(?:[0-2]?[0-9]:?"
            rf"[0-5][0-9]:? ?(?:am|pm|h)?\b|(?:{_MEASURED})\b|: [A-Za-z]))",
            re.IGNORECASE,
        ),
    ),
    make_number_after(
        "date after a test",
        "DATE",
        "(?:CT|MRI|CXR|EKG|ECG|echo|labs|culture|x-ray|US|PET|biopsy|surgery|EGD|colonoscopy)"
        "(?: [a-z]+){0,2},? ",
        rf"(?!{_SCORE}){_SHORT}(?![/-]?[0-9]| of )",
    ),
    make_number_after(
        "date after a result",
        "DATE",
        rf"(?:{_MEASURED})(?: [a-z]+)? ?\(|[0-9] \(",
        rf"(?!{_SCORE}){_SHORT}(?=\)|,)",
    ),
    make_form("quarter or week", "DATE", rf"(?:Q[1-4]|week [0-9]{{1,2}}(?: of)?),? {_YEAR}"),
    make_form(
        "holiday",
        "DATE",
        r"Christmas(?: Day| Eve)?|New Year'?s(?: Day| Eve)|Thanksgiving(?: Day)?|Independence Day"
        r"|Labor Day|Memorial Day|Halloween|Boxing Day|Good Friday|Easter(?: Sunday| Monday)?",
    ),
    make_number_after(
        "short date",
        "DATE",
        rf"{_CUE}:? (?:the )?",
        rf"{_SHORT}(?: ?(?:-|to|and|&|,) ?{_SHORT}){{0,4}}{_NO_SCORE}",
    ),
)
