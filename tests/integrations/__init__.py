"""The integrations, in processes of their own."""
