"""The fault matrix: every fault x wire x way, against the simulator, through the vendors' own SDKs."""
