"""Images, documents and audio."""
