"""The core: emission, judge, remedies and drivers, without a vendor."""
