"""How much an answer may take."""
