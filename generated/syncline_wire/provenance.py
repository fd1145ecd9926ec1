# Generated from schema/pins.toml by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.
"""Where the models come from."""

from __future__ import annotations

#: Version of datamodel-code-generator, and a digest of the options it was run with.
GENERATOR = "datamodel-code-generator 0.89.0"
OPTIONS_SHA256 = "5b7f79c97febcf3e875b2236b7f89327e2a20b34f0cffe030c8e850741d27017"

#: Revision or extension → published file (repository, commit, path, sha256) and the sha256 of its reduction and fixes.
SOURCES: dict[str, dict[str, str]] = {
    "2024-11-05": {
        "repository": "modelcontextprotocol/modelcontextprotocol",
        "commit": "b0f60ba5409db7a6582440a7b473cc0398890f15",
        "path": "schema/2024-11-05/schema.json",
        "sha256": "61cea2392d4f284092d09bc84b9ac488c0d5618ac2b38a56942fc5b99fd960ce",
        "inputs": "21a5155828050d48aa6a11352d78a016561981231ba42e1f4de9e713e273e19d",
    },
    "2025-03-26": {
        "repository": "modelcontextprotocol/modelcontextprotocol",
        "commit": "b0f60ba5409db7a6582440a7b473cc0398890f15",
        "path": "schema/2025-03-26/schema.json",
        "sha256": "e720669548c8100a4282c49e580efd6ddf7f28899ea786fc8db251dbdb356131",
        "inputs": "712d99e2e4e235ad813ad117b848b1098a20fbe2f5c4c023dfa9da9ea57c3811",
    },
    "2025-06-18": {
        "repository": "modelcontextprotocol/modelcontextprotocol",
        "commit": "b0f60ba5409db7a6582440a7b473cc0398890f15",
        "path": "schema/2025-06-18/schema.json",
        "sha256": "af845e7e5b9d27107d1690f0936022546177a1403e63ffb11470135b296a2e01",
        "inputs": "ba9bec88d52a6cfd9b0dfd57e438671ffffc8d2de6dba385b80acc6a45f7da14",
    },
    "2025-11-25": {
        "repository": "modelcontextprotocol/modelcontextprotocol",
        "commit": "b0f60ba5409db7a6582440a7b473cc0398890f15",
        "path": "schema/2025-11-25/schema.json",
        "sha256": "268a5f82ba70fd7e4b6dc4aa1e64f116f74b4d0edcb69dc046829c79dd4e97e7",
        "inputs": "27b517cdd3ba6b8f1f132b5c52d872ba360f3d3a56d0607fc2508ee103fb3da0",
    },
    "2026-07-28": {
        "repository": "modelcontextprotocol/modelcontextprotocol",
        "commit": "b0f60ba5409db7a6582440a7b473cc0398890f15",
        "path": "schema/2026-07-28/schema.json",
        "sha256": "ef70b61f99b6d2e5e3b46863822eab08dff6a45bedc7a08914e0e5b133f40203",
        "inputs": "fc665b822943179f6d75c17702c65b10221dfa8fed3382395d6e2abfd3e18110",
    },
    "tasks": {
        "repository": "modelcontextprotocol/ext-tasks",
        "commit": "e4345978be1f602f1fc48d89051e8559dd5302a6",
        "path": "schema/draft/schema.json",
        "sha256": "10933a5003097bbccb03d964e6a5f7a2819cc4d7a1d07e27c6765cbf5da35c5c",
        "inputs": "ae4f1b0c40c145d67068a1d8324719075c16665c23a250b0716f238183bf24b6",
    },
    "events": {
        "inputs": "f9fda67ae400f0ba32cbae18760d90c39d9fd27a446aa6754b6cffdbb18d8d66",
    },
}
