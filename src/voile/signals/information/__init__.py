"""What messages reveal of the class, in bits, given beliefs about each subject: I(Z; C | S).

Source: Aranki, Bajcsy, *Private Disclosure of Information in Health Tele-monitoring*, 2015, eq. 1
and Section 3.3.
"""
