"""The stores: one contract for all of them, and what each promises beyond it."""
