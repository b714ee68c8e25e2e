"""Codecs between the caller's documents and their wire form.

`encode` raises `Unencodable` if a value has no wire form. `decode` never raises: it returns a value that it cannot
interpret unchanged, or as `Undecoded` if interpreting it would be a guess, and validation reports it.
"""
