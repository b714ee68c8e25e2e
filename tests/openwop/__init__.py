"""OpenWOP's own conformance scenarios, held against this library."""
