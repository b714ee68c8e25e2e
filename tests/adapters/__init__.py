"""The wires, against the real SDKs and against everything a server may send."""
