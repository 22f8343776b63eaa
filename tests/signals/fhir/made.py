"""Observations as devices and servers write them, and the way there and back, for the tests."""

from __future__ import annotations

from tests.signals.days import days, fitted

from voile.core.errors import RequestError
from voile.data.fhir.reading_fields import ReadingField
from voile.signals import PrivacyMap
from voile.signals.fhir.files import decode, encode
from voile.signals.fhir.schemes import SequenceScheme, SingleScheme
from voile.signals.model.codec.limits import ReadingLimits

FIELDS = (ReadingField("height", "8302-2", "cm"), ReadingField("weight", "29463-7", "kg"))
NAMES = [field.column for field in FIELDS]
COLUMNS = [ReadingLimits(name) for name in NAMES]
CLASSES = {"Patient/0": "calm", "Patient/1": "wild", "Patient/2": "wild"}


def class_of(subject):
    if subject not in CLASSES:
        raise RequestError("a subject has no class")
    return CLASSES[subject]


def scheme(invariants=()):
    """Sequences, or where there is None readings by themselves."""
    if invariants is None:
        map = PrivacyMap(method="normal", random_state=0).fit(*days(300, 1, 1)[:2])
        return SingleScheme(map.codec_, map.codec_, "the map", class_of)
    return SequenceScheme(fitted(*invariants).codec_, class_of)


def quantity(value, field):
    return (
        f'{{"value": {value},"unit":"{field.unit}", "system": "http://unitsofmeasure.org",'
        f'  "code":"{field.unit}"}}'
    )


def coded(field):
    """A code among others, of a local system and with another's number."""
    local = '{"system":"urn:local","code":"8302-2"}'
    return f'"code": {{"coding": [{local}, {{"system":"{field.system}","code":"{field.code}"}}]}}'


def observation(
    value,
    field,
    subject="0",
    time="2024-03-01",
    more="",
    start='{"device": {"display": "é\\u00e9"}, ',
):
    effective = f'"effectiveDateTime": "{time}",' if time else ""
    return (
        f'{start}"resourceType" : "Observation", "status":"final", {coded(field)},'
        f'"subject":{{"reference":"Patient/{subject}"}}, {effective}{more}'
        f' "valueQuantity" :{quantity(value, field)} , "method":{{"text":"a scale "}}}}'
    )


def panel(height, weight, subject="1", time="2024-03-02T08:00:00Z", code="85353-1"):
    """One Observation that holds a whole reading in its components."""
    parts = ",".join(
        f'{{{coded(field)}, "valueQuantity":{quantity(value, field)}}}'
        for field, value in zip(FIELDS, (height, weight), strict=True)
    )
    return (
        '{"resourceType":"Observation","status":"final","modifierExtension" : [ {"url":"urn:a",'
        f'"valueBoolean":true}} ],"code":{{"coding":[{{"system":"http://loinc.org","code":"{code}"'
        f'}}]}},"subject":{{"reference":"Patient/{subject}"}},"effectiveDateTime":"{time}",'
        f'"component" : [ {parts} ]}}'
    )


def changed(old, new):
    text = panel("170.0", "71.5")
    assert old in text
    return text.replace(old, new, 1)


OTHER = '"modifierExtension" : [ {"url": "urn:a", "valueBoolean": true} ],'
LINES = [
    '{"resourceType":"Patient","id":"0", "active":true}',
    observation("170.0", FIELDS[0], time="2024-03-02"),
    observation("71.3", FIELDS[1], time="2024-03-02", start="{ "),
    "",
    panel("160.0", "60.2"),
    observation("70.0", FIELDS[1], time="2024-03", start="{\t"),
    observation("170.0", FIELDS[0], time="2024-03"),
    panel("160.0", "61.0", time="2024-03-01T23:30:00-09:00"),
    observation("170.0", FIELDS[0], time="2024-03-02"),
    observation("71.4", FIELDS[1], time="2024-03-02", more=OTHER),
    panel("181.5", "90.0", subject="2"),
]
WEIGHTS = "\n".join(panel("160.0", f"60.{t}", time=f"2024-03-02T0{t}:00:00Z") for t in range(4))


def there_and_back(folder, text, how, fields=FIELDS, **options):
    """Encode and decode; return the counts and what was sent."""
    folder.mkdir(exist_ok=True)
    source, sent, again = (folder / name for name in ("source", "sent", "again"))
    source.write_bytes(text.encode())
    counts = encode(source, sent, how, fields, **options)
    assert decode(sent, again, how, COLUMNS) == counts
    assert again.read_bytes() == source.read_bytes()
    return counts, sent.read_bytes().decode()


def encoded(folder, text, how):
    (folder / "source").write_text(text)
    encode(folder / "source", folder / "sent", how, FIELDS)
    return (folder / "sent").read_text()
