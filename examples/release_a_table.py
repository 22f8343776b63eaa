"""Find what beats Safe Harbor on a table of people: release_a_table.py SAMPLE POPULATION.

The sample has the columns age, sex, race and zip; the population counts people by them.
"""

import sys

from voile.tables import PolicySpace, safe_harbor, search


def main(sample: str, population: str) -> None:
    """Print what Safe Harbor loses, and the policy that loses least at no more risk."""
    space = PolicySpace.of(sample, population, quasi=["age", "sex", "race", "zip"])
    found = search(space, method="steepest")  # under a second; best takes a minute
    risk, loss = space.evaluate(safe_harbor(space).bits[None])
    best = found.frontier.at(risk=risk[0])  # the least loss at Safe Harbor's risk
    print(f"Safe Harbor loses {loss[0]:.0%}; at no more risk this policy loses {best.loss:.0%}:")
    print(space.policy(best.policy).describe())  # age 0-16 17 18-27 ... / sex ... / zip ...


if __name__ == "__main__":
    main(*sys.argv[1:])
