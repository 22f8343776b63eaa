"""Values of columns next to the notes: names, numbers, days, places, in all their forms."""
