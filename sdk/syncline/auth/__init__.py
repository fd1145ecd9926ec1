"""Who we are: OAuth as MCP has it. The flow has no clock, lock, socket or thread; what it needs done, it asks for."""
