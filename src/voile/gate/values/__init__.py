"""The value search: it finds unreleased values of people in released bytes."""
