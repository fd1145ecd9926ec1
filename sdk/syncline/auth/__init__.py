"""Who we are: OAuth as MCP has it. What thinks here has no clock, lock, socket or thread; what it needs done, it asks for."""
