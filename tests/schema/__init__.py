"""The schema compiler and the local check."""
