"""From decision to act: what was approved, and nothing else, is what happens, and there is a receipt of it."""
