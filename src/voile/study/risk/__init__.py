"""The joint risk of all parts: estimated for a policy, and counted on the written release."""
