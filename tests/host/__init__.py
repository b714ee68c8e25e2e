"""What a host does with an envelope."""
