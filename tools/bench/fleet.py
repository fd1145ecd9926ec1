"""A manager of 50 programs and 50 HTTP servers, one of them slow, beside a client that waits for the slow one alone."""

from __future__ import annotations

import sys
import threading
import time

NOW = time.perf_counter
COMMAND = (sys.executable, "-m", "tools.bench.server", "--stdio")


def many(url: str, servers: int, tools: int, late: int) -> dict[str, float]:
    """Half of the servers are programs and half are at the URL; all tools of all of them end up in one list."""
    from syncline import ConnectionManager, HttpServer, StdioServer

    half = servers // 2
    program = (*COMMAND[1:], "--tools", str(tools))
    slow = StdioServer(COMMAND[0], (*program, "--late", str(late)))
    config: dict[str, HttpServer | StdioServer] = {
        "slow": slow,
        **{f"program_{number}": StdioServer(COMMAND[0], program) for number in range(1, half)},
        **{f"remote_{number}": HttpServer(url) for number in range(servers - half)},
    }
    threads = [0]
    manager = ConnectionManager(config, on_startup=lambda _: threads.append(threading.active_count()))
    start = NOW()
    with manager:
        ready = [manager.wait_ready(name) for name in config]
        started = NOW()
        listed = len(manager.list_tools())
        after = NOW()
        idle = threading.active_count()
    closed = NOW()
    assert all(ready)
    assert listed == servers * tools
    return {
        "ms": (started - start) * 1e3, "list_ms": (after - started) * 1e3, "close_ms": (closed - after) * 1e3,
        "threads": max(threads), "idle_threads": idle,
    }  # fmt: skip


def slowest(tools: int, late: int) -> dict[str, float]:
    """The slow one alone: connect, and list its tools."""
    import syncline

    start = NOW()
    with syncline.connect([*COMMAND, "--tools", str(tools), "--late", str(late)]) as client:
        assert len(client.list_tools()) == tools
        return {"ms": (NOW() - start) * 1e3}
