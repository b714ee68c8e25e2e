"""Writing a shape in a vendor's subset: the wire schema and its codec together."""
