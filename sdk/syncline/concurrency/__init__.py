"""Waiting, and nothing else: the only room that imports threading or queue."""
