"""Benchmarks of the client, each beside a raw loop in the same round."""
