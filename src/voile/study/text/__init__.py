"""Texts that say of a person what the person's rows show: the rule, and its certificate."""
