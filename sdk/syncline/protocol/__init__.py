"""The protocol without I/O: bytes and dicts in, decisions and bytes out. No clock, no lock, no socket, no thread."""
