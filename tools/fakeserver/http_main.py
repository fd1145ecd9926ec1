"""The sample MCP server over Streamable HTTP: `python -m tools.fakeserver.http_main` prints its port, then serves.

It ends when its standard input ends.
"""

from __future__ import annotations

import argparse
import sys

from .catalogue import versions
from .mcp_http import McpHttpServer
from .samples import sample_catalogue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--era", default="all", help="a revision, several with commas, or handshake, stateless, all")
    parser.add_argument("--answer", choices=["json", "sse"], default="json")
    parser.add_argument("--no-sessions", action="store_true")
    parser.add_argument("--tools", type=int, default=0, help="so many more tools")
    parser.add_argument("--page-size", type=int, default=50)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    catalogue = sample_catalogue(versions(options.era), page_size=options.page_size, tools=options.tools)
    sessions = not options.no_sessions
    with McpHttpServer(catalogue, answer=options.answer, sessions=sessions, port=options.port) as server:
        print(server.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
