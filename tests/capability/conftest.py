"""What the tests of capabilities share."""

from tests.capability.doors import vendor as vendor  # noqa: PLC0414  a fixture
