"""The joint risk of all parts: judged of a policy, and counted on what was written."""
