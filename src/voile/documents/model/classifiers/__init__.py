"""Words left in a release that point to removed values."""
