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
    "auth/metadata-default": 18,
    "auth/metadata-var1": 18,
    "auth/metadata-var2": 18,
    "auth/metadata-var3": 18,
    "auth/metadata-issuer-mismatch": 3,
    "auth/resource-mismatch": 2,
    "auth/basic-cimd": 12,
    "auth/pre-registration": 12,
    "auth/token-endpoint-auth-basic": 19,
    "auth/token-endpoint-auth-post": 19,
    "auth/token-endpoint-auth-none": 19,
    "auth/scope-from-www-authenticate": 14,
    "auth/scope-from-scopes-supported": 14,
    "auth/scope-omitted-when-undefined": 14,
    "auth/scope-step-up": 20,
    "auth/scope-retry-limit": 10,
    "auth/offline-access-scope": 12,
    "auth/offline-access-not-supported": 14,
    "auth/authorization-server-migration": 27,
    "auth/iss-supported": 14,
    "auth/iss-not-advertised": 14,
    "auth/iss-supported-missing": 8,
    "auth/iss-wrong-issuer": 8,
    "auth/iss-unexpected": 8,
    "auth/iss-normalized": 8,
    "auth/client-credentials-basic": 7,
    "auth/client-credentials-jwt": 7,
    "auth/enterprise-managed-authorization": 8,
    "auth/wif-jwt-bearer": 7,
    "auth/dpop": 12,
    "auth/dpop-nonce": 14,
    "auth/2025-03-26-oauth-metadata-backcompat": 12,
    "auth/2025-03-26-oauth-endpoint-fallback": 7,
}

# A name, or the beginning of names that ends in * → what the client does not have yet.
NOT_YET = {
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
