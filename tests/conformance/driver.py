"""The client under the official conformance suite: `driver.py URL`, with the scenario in the environment.

Every answer is asserted, so that the exit status means something: the suite itself only sees what the client sends.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Callable
from typing import Any

import requests

import syncline
from tests.fixtures.watch import Watch, sent_through

#: The secrets here are those of the suite, which have no mark.
watch = Watch(shortest=6)
SECONDS = 20  # less than the suite allows, so that a call that hangs is seen here first


def connect(url: str, **options: Any) -> syncline.Client:
    """Left to the client's own choice for the newest revision, else the revision of the run."""
    revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
    version = "auto" if revision >= "2026-07-28" else revision
    return syncline.connect(url, protocol_version=version, timeout=SECONDS, trace=trace, **options)


trace = io.StringIO()
#: The client that the suite knows without registration: never fetched.
DOCUMENT = "https://conformance-test.local/client-metadata.json"


def follow(visit: syncline.Visit) -> str:
    """Log in as a person would, whose browser is not followed back to this machine: bring along where it would have come."""
    answer = requests.get(visit.url, allow_redirects=False, timeout=SECONDS)
    return answer.headers["Location"]


def context() -> Any:
    return json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")


def with_login(url: str, *, dpop: bool = False) -> None:
    """The authorization code flow, whatever the scenario makes of it."""
    known = context()
    auth = syncline.OAuth(
        client_id=known.get("client_id"),
        client_secret=known.get("client_secret"),
        client_metadata_url=DOCUMENT,
        store="memory",
        visit=follow,
        dpop=dpop,
    )
    call_first_tool(url, auth=auth)


def with_dpop(url: str) -> None:
    with_login(url, dpop=True)


def with_client_credentials(url: str) -> None:
    known = context()
    proof = known.get("client_secret") or known["private_key_pem"]
    auth = syncline.ClientCredentials(known["client_id"], proof, algorithm=known.get("signing_algorithm"))
    call_first_tool(url, auth=auth)


def with_enterprise(url: str) -> None:
    known = context()
    auth = syncline.EnterpriseManaged(
        known["client_id"],
        known["client_secret"],
        idp_token_endpoint=known["idp_token_endpoint"],
        idp_client_id=known["idp_client_id"],
        subject_token=known["idp_id_token"],
    )
    call_first_tool(url, auth=auth)


def with_workload_identity(url: str) -> None:
    call_first_tool(url, auth=syncline.WorkloadIdentity(context()["valid_jwt"]))


def call_first_tool(url: str, **options: Any) -> None:
    """Two calls that need a token, where tokens are needed."""
    with connect(url, **options) as client:
        for tool in client.list_tools()[:1]:
            client.call_tool(tool.name, {}).raise_for_error()


def list_tools(url: str) -> None:
    with connect(url) as client:
        assert client.list_tools()


def initialize(url: str) -> None:
    with connect(url) as client:
        client.list_tools()


def add_numbers(url: str) -> None:
    with connect(url) as client:
        assert "add_numbers" in [tool.name for tool in client.list_tools()]
        result = client.call_tool("add_numbers", {"a": 5, "b": 3})
        result.raise_for_error()
        assert "8" in result.text, result.text


def request_metadata(url: str) -> None:
    with connect(url, capabilities={"roots": {}, "sampling": {}, "elicitation": {}}) as client:
        client.request("tools/list")  # by hand: this server offers no tools, and the client would not ask it for any
        client.request("tools/call", {"name": "add_numbers", "arguments": {"a": 5, "b": 3}})


def every_method(url: str) -> None:
    with connect(url) as client:
        for tool in client.list_tools():
            client.call_tool(tool.name, {}).raise_for_error()
        for resource in client.list_resources():
            client.read_resource(resource.uri)
        for prompt in client.list_prompts():
            client.get_prompt(prompt.name)


def custom_headers(url: str) -> None:
    calls = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]
    assert calls
    with connect(url) as client:
        client.list_tools()
        for call in calls:
            client.call_tool(call["name"], call["arguments"]).raise_for_error()


def invalid_tool_headers(url: str) -> None:
    with connect(url) as client:
        tools = client.list_tools()
        assert "valid_tool" in [tool.name for tool in tools]
        for tool in tools:
            arguments = dict.fromkeys(tool.input_schema.get("properties", {}), "x")
            client.call_tool(tool.name, arguments).raise_for_error()


def echo_schema(url: str) -> None:
    with connect(url) as client:
        tools = {tool.name: tool for tool in client.list_tools()}
        schema = tools["json_schema_2020_12_tool"].input_schema
        client.call_tool("json_schema_echo", {"schema": schema}).raise_for_error()


def elicitation_defaults(url: str) -> None:
    with connect(url, on_elicitation=lambda _: {}) as client:
        client.call_tool("test_client_elicitation_defaults", {}).raise_for_error()


def reconnection(url: str) -> None:
    with connect(url) as client:
        client.list_tools()
        client.call_tool("test_reconnection", {}).raise_for_error()


def request_state(url: str) -> None:
    with connect(url, on_elicitation=lambda _: {"confirmed": True}) as client:
        client.list_tools()
        for kind in ("echo_state", "unrelated", "no_state", "no_result_type"):
            client.call_tool(f"test_mrtr_{kind}", {}).raise_for_error()


SCENARIOS: dict[str, Callable[[str], None]] = {
    "initialize": initialize,
    "tools_call": add_numbers,
    "request-metadata": request_metadata,
    "http-standard-headers": every_method,
    "http-custom-headers": custom_headers,
    "http-invalid-tool-headers": invalid_tool_headers,
    "elicitation-sep1034-client-defaults": elicitation_defaults,
    "sse-retry": reconnection,
    "sep-2322-client-request-state": request_state,
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": echo_schema,
    "auth/client-credentials-basic": with_client_credentials,
    "auth/client-credentials-jwt": with_client_credentials,
    "auth/enterprise-managed-authorization": with_enterprise,
    "auth/wif-jwt-bearer": with_workload_identity,
    "auth/dpop": with_dpop,
    "auth/dpop-nonce": with_dpop,
}


def main(scenario: str, url: str) -> None:
    """Run a scenario, and look through all that was logged and traced for the secrets that went out meanwhile."""
    sent_through(watch)
    logged = io.StringIO()
    logging.basicConfig(stream=logged, level=logging.DEBUG)
    otherwise = with_login if scenario.startswith("auth/") else call_first_tool
    SCENARIOS.get(scenario, otherwise)(url)
    watch.see("the log", logged.getvalue())
    watch.see("the trace", trace.getvalue())
    assert not watch.found, watch.found


if __name__ == "__main__":
    main(os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[-1])
