"""The adversary of the documents wing, who inspects the text, links subjects and guesses names.

The adversary has the release and the stated background knowledge, never the kit.
"""
