"""Credentials for tests."""

from __future__ import annotations

from syncline.auth.tokens import CredentialKey, Credentials

KEY = CredentialKey("https://id.example/acme", "https://notes.example/mcp")
OTHER_KEY = CredentialKey("https://id.example/acme", "https://notes.example/other", "https://us.example/client.json")


def some(turn: object = 1, key: CredentialKey = KEY, **members: object) -> Credentials:
    """Credentials after so many refreshes."""
    chosen: dict[str, object] = {
        "access_token": f"planted-access-{turn}",
        "refresh_token": f"planted-refresh-{turn}",
        "expires_at": 1000.0,
        "principal": "login-1",
        **members,
    }
    return Credentials(key.issuer, key.resource, "client-1", client=key.client, **chosen)  # type: ignore[arg-type]
