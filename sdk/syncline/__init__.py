"""The blocking MCP client for Python."""
