"""Tests of the vendor simulator."""
