"""The compiled inner loops of the itemsets wing."""
