"""What is reported a document while it is written."""
