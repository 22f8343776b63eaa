"""From a source with roles to readings, their classes and their subjects."""
