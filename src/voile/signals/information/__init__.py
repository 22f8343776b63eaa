"""The leakage of messages about the class, I(Z; C | S) in bits, given beliefs about each subject.

Source: Aranki, Bajcsy, *Private Disclosure of Information in Health Tele-monitoring*, 2015, eq. 1
and Section 3.3.
"""
