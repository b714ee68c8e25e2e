"""What the tests of many emissions share."""

from tests.bulk.asking import vendor as vendor  # noqa: PLC0414  a fixture
