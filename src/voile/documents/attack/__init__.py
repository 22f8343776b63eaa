"""The adversary of the documents wing, who inspects what is left, links and guesses what is not.

The adversary has the release and the stated background knowledge, never the kit.
"""
