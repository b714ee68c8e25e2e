"""The behaviour of the schema compiler, construct by construct."""
