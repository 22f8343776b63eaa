"""Proposals of identifiers before anybody has marked any."""
