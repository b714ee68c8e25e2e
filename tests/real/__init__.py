"""A real model on a real server."""
