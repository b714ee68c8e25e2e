"""Reading a schema of any draft into its shape, which knows no draft."""
