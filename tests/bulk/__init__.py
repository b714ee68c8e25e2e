"""Many emissions: their pace, their journal, their end."""
