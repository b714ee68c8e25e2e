"""The four wires from the vendor's side: reading requests, and writing answers and errors as the vendor does."""
