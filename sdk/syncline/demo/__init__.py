"""A small MCP server over stdio, of the standard library alone: ``python -m syncline.demo``.

It speaks all five revisions, those with a handshake and the stateless one, even mixed on one connection: a request that
names its revision in ``_meta`` is served by itself, every other one by the revision that ``initialize`` settled on.
``syncline demo`` talks to it; it is also something harmless to try a client on.
"""
