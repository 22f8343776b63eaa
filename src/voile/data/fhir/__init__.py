"""FHIR R4 in JSON: lines, exact edits, element values, references, attachments, release rules.

Source: HL7 FHIR R4 (4.0.1). The modules for each kind of data read and write FHIR with this
package, and define their own schemes.
"""
