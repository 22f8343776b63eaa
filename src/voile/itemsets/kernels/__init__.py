"""The compiled inner loops of the itemsets wing.

`rows` groups equal rows, `groups` says what is counted, `containment` counts who contains what,
`partition` tells whether one more feature may be shared, `gains` what it adds to a utility.
"""
