"""The wing's verbs, a file each, and what they share: options, the kit's content, the scene."""
