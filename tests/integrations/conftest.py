"""The frameworks."""

from tests.integrations.agents import framework, parallel_framework

__all__ = ["framework", "parallel_framework"]
