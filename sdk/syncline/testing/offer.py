"""What a fake server offers: tools, resources, templates, prompts and completion, as plain functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from syncline.serving import (
    INVALID_PARAMS,
    JSON,
    RESOURCE_NOT_FOUND,
    Refused,
    arguments_of,
    completion,
    failed,
    field,
    page,
)

from .call import Call, Gone, InputNeeded
from .signatures import contents, hints_of, prompt_result, run, schema_of, tool_result

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class Entry:
    """Something that is offered: how a listing describes it, and what it does."""

    about: JSON
    run: Callable[..., Any]


class Offer:
    """Registers functions, and answers the requests that they are for."""

    def __init__(self, page_size: int) -> None:
        self._page_size = page_size
        self._tools: dict[str, Entry] = {}
        self._resources: dict[str, Entry] = {}
        self._templates: dict[str, Entry] = {}
        self._prompts: dict[str, Entry] = {}
        self._completions: dict[tuple[str, str], Sequence[str]] = {}

    # What tests say

    @overload
    def tool(self, function: Function) -> Function: ...

    @overload
    def tool(
        self,
        function: None = None,
        *,
        name: str | None = ...,
        description: str | None = ...,
        input_schema: Mapping[str, object] | None = ...,
        output_schema: Mapping[str, object] | None = ...,
        task: bool = ...,
        about: Mapping[str, object] | None = ...,
    ) -> Callable[[Function], Function]: ...

    def tool(self, function: Any = None, **given: Any) -> Any:
        """Offer a function as a tool: ``@server.tool`` or ``@server.tool(name=..., input_schema=..., ...)``.

        Name, description and input schema come from the function where they are not given. Its arguments are passed by
        name; a parameter annotated ``Call`` gets the request itself, to report progress, log or ask. What it returns
        becomes the result: text, a dict (structured content; a whole result if it has ``content``), a list of content
        parts, None, or a model of ``syncline.types``. An exception makes the tool fail (``isError``); ``Refused`` answers
        with a JSON-RPC error. ``task`` lets calls become tasks, for clients that ask for one. ``about`` are further members of the listing's entry, in the protocol's spelling.
        """
        if function is None:
            return lambda decorated: self._add_tool(decorated, **given)
        return self._add_tool(function)

    def _add_tool(
        self,
        function: Function,
        *,
        name: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, object] | None = None,
        output_schema: Mapping[str, object] | None = None,
        task: bool = False,
        about: Mapping[str, object] | None = None,
    ) -> Function:
        entry = described(name or function.__name__, description, function)
        entry["inputSchema"] = dict(input_schema) if input_schema is not None else schema_of(function)
        entry |= {} if output_schema is None else {"outputSchema": dict(output_schema)}
        entry |= ({"execution": {"taskSupport": "optional"}} if task else {}) | dict(about or {})
        self._tools[entry["name"]] = Entry(entry, function)
        return function

    def resource(
        self,
        uri: str,
        content: str | bytes | Callable[[], str | bytes | JSON],
        *,
        mime_type: str | None = None,
        about: Mapping[str, object] | None = None,
    ) -> None:
        """Offer a resource: a text, bytes, or a function that returns one of these or a whole result."""
        mime = {} if mime_type is None else {"mimeType": mime_type}
        entry = {"uri": uri, "name": uri.rpartition("/")[2] or uri, **mime, **(about or {})}
        self._resources[uri] = Entry(
            entry, lambda: contents(uri, content() if callable(content) else content, mime_type)
        )

    def template(
        self, uri_template: str, *, mime_type: str | None = None, about: Mapping[str, object] | None = None
    ) -> Callable[[Function], Function]:
        """Offer a resource template with simple variables, ``notes://{day}``: its function gets their values by name."""
        pattern = re.compile("".join(_part(part) for part in re.split(r"(\{\w+\})", uri_template)))

        def read(uri: str, function: Callable[..., Any]) -> JSON | None:
            match = pattern.fullmatch(uri)
            return None if match is None else contents(uri, function(**match.groupdict()), mime_type)

        def add(function: Function) -> Function:
            mime = {} if mime_type is None else {"mimeType": mime_type}
            entry = {
                "uriTemplate": uri_template,
                **described(function.__name__, None, function),
                **mime,
                **(about or {}),
            }
            self._templates[uri_template] = Entry(entry, lambda uri: read(uri, function))
            return function

        return add

    def prompt(self, function: Function) -> Function:
        """Offer a function as a prompt: it returns what the user says, a list of messages, or a whole result."""
        parameters = inspect.signature(function).parameters
        taken = [name for name, hint in hints_of(function).items() if hint is not Call]
        required = [{"name": k, "required": parameters[k].default is inspect.Parameter.empty} for k in taken]
        entry: JSON = {**described(function.__name__, None, function), "arguments": required}
        self._prompts[entry["name"]] = Entry(entry, function)
        return function

    def completion(self, ref: str, argument: str, values: Sequence[str]) -> None:
        """Offer completions for an argument of a prompt (``ref`` is its name) or a template (its URI template)."""
        self._completions[ref, argument] = values

    # What clients ask

    @property
    def capabilities(self) -> JSON:
        """What there is, as the server declares it."""
        declared = {
            "tools": bool(self._tools),
            "resources": bool(self._resources or self._templates),
            "prompts": bool(self._prompts),
        }
        more: JSON = {"completions": {}} if self._completions else {}
        changing: JSON = {name: {"listChanged": True} for name, there in declared.items() if there}
        if "resources" in changing:
            changing["resources"]["subscribe"] = True
        return {**changing, **more, "logging": {}}

    @property
    def has_tasks(self) -> bool:
        """Whether there is a tool whose calls may become tasks."""
        return any("execution" in tool.about for tool in self._tools.values())

    def methods(self) -> dict[str, Callable[[Call], JSON]]:
        """The methods that are answered here, in both eras."""
        return {
            "tools/list": lambda call: self._list("tools", self._tools, call),
            "tools/call": self.call_tool,
            "resources/list": lambda call: self._list("resources", self._resources, call),
            "resources/templates/list": lambda call: self._list("resourceTemplates", self._templates, call),
            "resources/read": self._read,
            "prompts/list": lambda call: self._list("prompts", self._prompts, call),
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }

    def _list(self, key: str, entries: Mapping[str, Entry], call: Call) -> JSON:
        return page(key, [entry.about for entry in entries.values()], call.params, self._page_size)

    def becomes_task(self, call: Call) -> bool:
        """Whether a call of a tool may be answered with a task."""
        tool = self._tools.get(call.params.get("name", ""))
        return tool is not None and "execution" in tool.about

    def call_tool(self, call: Call) -> JSON:
        """Run a tool; one that raises has failed."""
        name, arguments = field(call.params, "name"), arguments_of(call.params)
        if name not in self._tools:
            raise Refused(INVALID_PARAMS, f"Unknown tool: {name}")
        try:
            return tool_result(run(self._tools[name].run, arguments, call))
        except (Refused, Gone, InputNeeded):
            raise
        except Exception as error:
            return failed(str(error) or type(error).__name__)

    def _read(self, call: Call) -> JSON:
        uri = field(call.params, "uri")
        if uri in self._resources:
            found: JSON = self._resources[uri].run()
            return found
        for template in self._templates.values():
            read: JSON | None = template.run(uri)
            if read is not None:
                return read
        code = INVALID_PARAMS if call.stateless else RESOURCE_NOT_FOUND
        raise Refused(code, f"No such resource: {uri}", {"uri": uri})

    def _get_prompt(self, call: Call) -> JSON:
        name, arguments = field(call.params, "name"), arguments_of(call.params)
        if name not in self._prompts:
            raise Refused(INVALID_PARAMS, f"Unknown prompt: {name}")
        prompt = self._prompts[name]
        try:
            return prompt_result(run(prompt.run, arguments, call), prompt.about.get("description"))
        except TypeError as error:
            raise Refused(INVALID_PARAMS, str(error)) from error

    def _complete(self, call: Call) -> JSON:
        ref, argument = field(call.params, "ref", "object"), field(call.params, "argument", "object")
        target = field(ref, "uri" if ref.get("type") == "ref/resource" else "name")
        return completion(self._completions.get((target, field(argument, "name")), ()), field(argument, "value"))


def described(name: str, description: str | None, function: Callable[..., Any]) -> JSON:
    """What a listing says first, the description from the function's docstring where none is given."""
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is a coroutine function; what a FakeServer offers are plain functions")
    text = description or inspect.getdoc(function)
    return {"name": name} | ({} if text is None else {"description": text})


def _part(part: str) -> str:
    return f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part)
