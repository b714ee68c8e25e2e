"""Constrained decoding: documents that a schema lets a model write. Needs the extra ``testing``."""
