"""Guarded tools: a tool that runs only the call its principal approved, once, with a receipt."""
