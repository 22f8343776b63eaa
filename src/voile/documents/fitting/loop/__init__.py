"""How a committee is learnt and judged."""
