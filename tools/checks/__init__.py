"""Checks of what the tests of behaviour cannot see: import cost, the wheel, declared dependencies, coverage by room."""
