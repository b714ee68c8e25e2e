"""The frameworks."""

from tests.integrations.agents import framework

__all__ = ["framework"]
