"""The pictures of the README: one decision on several surfaces, each drawn by what really draws it there."""
