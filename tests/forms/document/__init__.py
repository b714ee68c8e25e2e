"""``emit``: documents under schemas of the caller's own."""
