"""Send emissions to a model: settings, request building, transport and results."""
