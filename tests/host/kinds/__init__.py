"""The catalogue of kinds."""
