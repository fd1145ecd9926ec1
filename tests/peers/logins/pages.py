"""The pages that a person sees at an authorization server of the tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape


def page(title: str, text: str, buttons: Iterable[str], fields: Mapping[str, str | None]) -> str:
    """A form that is sent to where it is, with a button each; a field without a value is for the person to fill in."""
    inputs = [
        f'<label>{escape(name)} <input name="{escape(name)}"></label>'
        if value is None
        else f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in fields.items()
    ]
    presses = [f'<button name="press" value="{each}">{each}</button>' for each in buttons]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<h1>{escape(title)}</h1><p>{escape(text)}</p><form method="post">{"".join(inputs + presses)}</form></html>'
    )


def consent(client: str, scopes: Iterable[str], fields: Mapping[str, str | None]) -> str:
    """Whether a program may have what it asks for."""
    return page(f"Allow {client}?", f"It asks for {' '.join(scopes)}.", ("Allow", "Deny"), fields)
