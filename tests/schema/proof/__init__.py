"""The proof harness of the schema compiler: corpora, a real constrained decoder, a second validator, and the laws."""
