"""Values of columns beside the notes: names, numbers, days, places, in all their forms."""
