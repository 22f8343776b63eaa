"""The compiled inner loops of the itemsets wing.

`rows` groups equal rows, `groups` says what is counted, `containment` counts who contains what,
`parts` finds the rarest small itemsets. `partition` keeps what a set of features leaves to see,
`admission` tells whether one more may be shared, `blockers` why not, `gains` what it adds to a
utility. `bits`, `covers` and `branch` search for the best set, `alike` and `maximal` for sets of
what rows have in common.
"""
