"""The value search: which unreleased values of people stand in released bytes."""
