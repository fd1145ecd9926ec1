"""Moving messages: bytes in, bytes out, no knowledge of MCP methods."""
