"""What the library makes of recorded exchanges."""
