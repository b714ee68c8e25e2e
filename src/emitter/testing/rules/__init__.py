"""What each vendor publishes, or was seen, to refuse in a schema, written down apart from the compiler's own facts."""
