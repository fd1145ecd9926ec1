"""What is asked of the official suite's scenarios now. Each stands here once; a new one in the suite is an error until it does."""

from __future__ import annotations

# Name → how many checks must succeed, at each revision that the scenario applies to.
REQUIRED = {
    "initialize": 1,
    "tools_call": 2,
    "request-metadata": 8,
    "http-standard-headers": 9,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
    "json-schema-2020-12-preservation": 9,
    "sse-retry": 3,
    "elicitation-sep1034-client-defaults": 5,
    "sep-2322-client-request-state": 5,
}

# A name, or the beginning of names that ends in * → what the client does not have yet.
NOT_YET = {
    "auth/*": "authorization",
    "sep-2640-client-*": "the Skills extension",
}


def waits_for(name: str) -> str | None:
    """What a scenario waits for; None for one that is required.

    Raises:
        KeyError: the scenario is not listed above.
    """
    if name in REQUIRED:
        return None
    for pattern, reason in NOT_YET.items():
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return reason
    raise KeyError(name)
