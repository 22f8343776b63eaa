"""Readings in HL7 FHIR R4: encode and decode the values of Observations in place.

Source: HL7 FHIR R4 (4.0.1), resource Observation, datatypes Quantity and Extension. Codes are LOINC
codes unless a field sets another system. Units are UCUM units.
"""
