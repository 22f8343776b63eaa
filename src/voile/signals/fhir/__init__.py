"""Readings in HL7 FHIR R4: the values of Observations encoded and decoded where they stand.

Source: HL7 FHIR R4 (4.0.1), resource Observation, datatypes Quantity and Extension. Codes are
LOINC's unless a field says otherwise, units are UCUM's.
"""
