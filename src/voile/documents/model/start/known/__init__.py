"""Find values of columns next to the notes: names, numbers, days and places, in all their forms."""
