"""The documentation site: its links, its reference, and the programs of its pages."""
