"""The steps that an envelope passes before anybody acts on it, each a function from value to value."""
