"""A vendor that does everything wrong, over a real socket, and what the library makes of it."""
