"""The adversary of documents, who inspects the text, links subjects and guesses names.

The adversary has the release and the stated background knowledge, but never the kit.
"""
