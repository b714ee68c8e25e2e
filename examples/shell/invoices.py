"""The type that the examples of docs/commands.md ask for."""

from pydantic import BaseModel


class Invoice(BaseModel):
    """An invoice."""

    vendor: str
    total: float
    due: str
