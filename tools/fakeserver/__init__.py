"""MCP servers for tests: well-behaved ones over HTTP and stdio, and the same with faults that can be named."""
