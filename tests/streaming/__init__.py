"""What is told of a document while it is written."""
