"""The kinds of envelope: what holds, what does not, and the standard they are held to."""
