"""Find addresses, towns and hospitals by their form, in the common languages of Europe."""

from __future__ import annotations

from voile.documents.model.start.rules.text_form import make_form, make_form_after

_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ"
    "|NM|NY|NC|ND|OH|OK|OR|PA|PR|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_CLEAR_STATES = (
    "AK|AZ|AR|CA|CT|DC|FL|GA|IL|IA|KS|KY|MN|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|RI|SC|SD|TN|TX|UT|VT|VA"
    "|WA|WV|WI|WY"
)
"""Abbreviations that are not words or medical terms, and need no comma after a town."""
_NO_TOWN = "On|In|At|The|And|From|For|With|To|By|No|Of|His|Her|Postcode|Postal|Zip|Address"
_TOWN = rf"(?!(?:{_NO_TOWN}) )[A-Z][a-z'-]+(?: (?:[A-Z][a-z'-]+|of|on|upon)){{0,3}}"
_ZIP = "[0-9]{5}(?:-[0-9]{4})?"
_CAPITAL = r"[A-ZÀ-Þ][\w'’-]{1,30}+"
_STREET = (
    "Street|St|Avenue|Ave|Av|Road|Rd|Lane|Ln|Boulevard|Blvd|Drive|Dr|Court|Ct|Place|Pl|Square|Sq"
    "|Terrace|Ter|Highway|Hwy|Parkway|Pkwy|Crescent|Cres|Circle|Cir|Alley|Row|Way|Trail|Trl|Close"
    "|Gardens|Grove|Hill|Loop|Pike|Turnpike|Path|Point|Ridge|Run|Walk|Mews|Crossing|Cove"
)
_DUTCH = (
    "Amsterdam|Rotterdam|Utrecht|Den Haag|Eindhoven|Groningen|Tilburg|Almere|Breda|Nijmegen|Leiden"
    "|Delft|Haarlem|Arnhem|Maastricht|Zwolle|Leeuwarden|Enschede|Apeldoorn|Amersfoort|Zoetermeer"
)
_NO_TOWN_AFTER = (
    "The|He|She|No|Not|On|In|At|Was|Is|Units?|Platelets?|Plt|Hgb|Hct|WBC|RBC|Neutrophils|Cells|Per"
)
_AFTER_HOSPITAL = (
    "Day|Course|Discharge|Admission|Unit|Ward|Number|No|MRN|Medicine|Problem|Acquired|Stay|Follow"
    "|Policy|Bed|Staff|Care|Based|Readmission|Visit|Services?|Team|Pharmacy|Summary|Information"
    "|Name|Transfer|Encounter|Note|Account|Día|Estructurada|Phone|Address|Course"
)
_SAINT = r"(?:St\.?|Saint|Mt\.?|Mount|Our Lady of|Sisters of|SSM|UPMC|HCA|VA|Royal|University of) ?"
_NO_HOSPITAL = (
    "(?!(?:The|Our|Your|His|Her|This|That|A|An|In|At|To|From|Pain|Wound|Urgent|Primary|Eye|Memory"
    "|Coumadin|Cardiac|Pulmonary|Vestibular|Subacute|Short|Drug|Alcohol|Child|Reproductive|Sexual"
    "|Employee|Student|Global|Digital|Oral|Bone|Good|ENT|GI|Ortho|Neuro|Renal|HIV|INR|Vascular"
    "|Breast|Voice|Headache|Epilepsy|Movement|MS|Lipid|Weight|Travel|Well|Sick|Resident|Faculty"
    "|Family|Internal|Medicine|Free|Flu|Vaccine|Hearing|Post|Pre|Preop|Preoperative|Same|Specialty"
    r"|\w{1,16}(?:ology|iatry|iatrics|iatric|ics|ery|ologic|opaedic|opedic)"
    "|Outpatient|Inpatient|Home|Diabetes|Heart|Cancer|Oncology|Cardiology|Surgery|Surgical|Medical"
    "|General|Community|Local|Outside|Day|Walk|Sleep|Fertility|Allergy|Foot|Hand|Hip|Spine|Mental"
    "|Public|Occupational|Behavioral|Women|Women's|Children's|Nursing|Skilled|Acute|Rehab|Dental"
    "|Speech|Physical|State|County|City|Regional|Private|Psychiatric|Palliative|Prenatal|Antenatal"
    "|Anticoagulation|Infusion|Dialysis|Transplant|Trauma|Burn|Stroke|Emergency|Long|Assisted"
    "|Transferred|Admitted|Discharged|Seen|Patient|Called|Per|Dear|Follow|Referred|When|If)"
    "(?![a-z]))"
)
_OF_HOSPITAL = (
    rf"{_NO_HOSPITAL}(?:{_SAINT})?{_CAPITAL}(?: (?:{_CAPITAL}|of|the|and|&|de|la)){{0,4}}?"
)
_HOSPITALS = (
    rf"{_OF_HOSPITAL} (?:Hospital|Hospitals|Clinic|Clinics|Infirmary|Hospice|Sanatorium|Healthcare"
    r"|Health|Medical (?:Center|Centre|Group|Associates|Campus|Park|Plaza|Practice)|MC|Nursing Home"
    r"|Care Home"
    r"|(?:Health|Cancer|Heart|Surgery|Surgical|Rehabilitation|Rehab|Nursing|Care|Eye|Birth|Dialysis"
    r"|Imaging|Trauma|Wellness|Children's|Women's|Spine|Stroke|Burn|Family|Community|Regional) "
    r"(?:Center|Centre|System|Home|Institute|Group|Partners|Hospital|Clinic|Services|Practice"
    r"|Network)|Assisted Living|Skilled Nursing(?: Facility)?|Nursing Facility|SNF|Rehab|Manor"
    r"|Senior Living"
    r"|Surgery Center|(?:NHS )?(?:Foundation )?Trust|Health Board|Polyclinic|Pharmacy)"
    r"(?! (?i:maintenance|insurance|records?|history|course|day|stay|bill|note)\b)",
    rf"(?:Hospital|Klinikum|Universitätsklinikum|Krankenhaus|Klinik|CHU|CHRU|Hôpital|Clinique"
    rf"|Ospedale|Policlinico|Clínica|Sanatorio|Centro de Salud|Ambulatorio|Policlínica|Maternidad)"
    rf"(?: (?:Universitario|Universitaria|General|Clínico|Regional|Municipal))?"
    rf" (?:(?:de|del|la|las|los|el|do|da|di|du|des|am|im|zum|zur|San|Santa|Saint) |[dl]['’]){{0,3}}"
    rf"(?!(?:{_AFTER_HOSPITAL})\b){_CAPITAL}"
    rf"(?: (?:(?:de|del|la|do|da|y|e) )?{_CAPITAL}){{0,3}}",
    r"(?:[A-ZÄÖÜ][\w-]+-(?:Klinik|Klinikum|Krankenhaus|Hospital))",
    r"(?:Mayo|Cleveland) Clinic|Johns Hopkins|Mass General|Massachusetts General|Kaiser Permanente",
)

PLACE_FORMS = (
    make_form(
        "post box",
        "ADDRESS",
        r"(?:P\.? ?O\.? ?Box|Post Office Box|Apartado(?: de Correos)?|Apdo\.?(?: de Correos)?"
        r"|Postfach|Casella Postale|Caixa Postal|Boîte Postale|Postbus) #?[0-9]+[A-Z]?",
    ),
    make_form(
        "flat",
        "ADDRESS",
        r"(?:Apt|Apartment|Suite|Ste|Flat)\.? #?[0-9]+[A-Z]?",
        case=True,
    ),
    make_form(
        "street",
        "ADDRESS",
        r"[0-9]{1,5}[A-Z]? (?:[NSEW]{1,2}\.? )?"
        rf"(?:{_CAPITAL} |[0-9]{{1,3}}(?:st|nd|rd|th) ){{1,4}}(?:{_STREET})\b\.?"
        r"(?: (?:[NSEW]{1,2})\b)?"
        r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|#)\.? ?#?[0-9]*[A-Z]?)?",
        r"(?:Rural Route|RR|County Road|State Route|Highway|Route) #?[0-9]+,? Box [0-9]+",
        r"[0-9]{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|place|chemin|impasse|allée|quai"
        rf"|cours) (?:(?:de|du|des|la|le|les) |[dl]['’]){{0,2}}{_CAPITAL}(?: {_CAPITAL}){{0,3}}",
        r"(?:Via|Viale|Piazza|Corso|Vicolo|Rua|Travessa|Praça|Largo) "
        r"(?:(?:de|da|do|dos|della|del) )?"
        rf"{_CAPITAL}(?: (?:(?:de|da|do|dos|della|del|e) )?{_CAPITAL}){{0,3}},? (?:n\.? ?º? ?)?"
        r"[0-9]{1,4}",
        case=True,
    ),
    make_form(
        "postcode",
        "ADDRESS",
        r"[ABCEGHJ-NPRSTVXY][0-9][A-Z] [0-9][A-Z][0-9]",
        rf"[0-9]{{4}} ?[A-Z]{{2}} (?:{_DUTCH})\b",
        rf"(?:[A-Z]{{1,2}}-)?(?![0-9]*000 )[0-9]{{5}} (?!(?:{_NO_TOWN_AFTER})\b){_CAPITAL}",
        rf"[0-9]{{4}}-[0-9]{{3}}(?: {_CAPITAL})",
        r"[0-9]{5}-[0-9]{3}(?![0-9-])",
        r"(?:NSW|VIC|QLD|TAS) [0-9]{4}",
        case=True,
    ),
    make_form_after(
        "postcode after its label",
        "ADDRESS",
        "(?:zip|postcode|postal code|zip code)(?: code)?:? ",
        _ZIP,
    ),
    make_form(
        "town and state",
        "ADDRESS",
        rf"{_TOWN}, (?:(?:{_STATES}),? {_ZIP}|(?!MD|PA|MS|DO|NP|RN)(?:{_STATES}))",
        rf"{_TOWN} (?:{_STATES}),? {_ZIP}",
        rf"{_TOWN} (?:{_CLEAR_STATES})",
        case=True,
    ),
    make_form(
        "British postcode",
        "ADDRESS",
        rf"(?:{_TOWN},? )?(?:GIR 0AA|[A-Z]{{1,2}}[0-9][A-Z0-9]? [0-9][A-Z]{{2}})",
        case=True,
    ),
    make_form(
        "German street",
        "ADDRESS",
        r"[A-ZÄÖÜ][\w-]*(?:straße|strasse|str\.|weg|platz|gasse|allee|ring|damm|ufer)"
        r" [0-9]+ ?[a-z]?"
        r"(?:,? [0-9]{5} [A-ZÄÖÜ]\w+)?",
        case=True,
    ),
    make_form_after(
        "home town",
        "PLACE",
        "(?:lives in|living in|resides in|resident of|born in|moved to|moved from|native of"
        "|grew up in|originally from) ",
        _TOWN,
        case=True,
    ),
    make_form("hospital", "HOSPITAL", *_HOSPITALS, case=True),
)
