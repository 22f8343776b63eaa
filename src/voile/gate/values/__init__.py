"""The value search, which finds unreleased values of people in the bytes of a release."""
