"""What an event loop may wait for: nothing of a store, a journal or a file."""
