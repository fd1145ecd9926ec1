"""Joining engine, transport and threads into a connection."""
