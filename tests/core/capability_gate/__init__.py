"""What a model must provide before it is asked."""
