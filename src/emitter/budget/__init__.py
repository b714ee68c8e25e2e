"""How many tokens an answer may take: from its schema, the model's limits and the caller's policy."""
