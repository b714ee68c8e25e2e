"""What the tests of capabilities share."""

from tests.core.capability_gate.functions import vendor as vendor  # noqa: PLC0414  a fixture
