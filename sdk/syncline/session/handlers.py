"""The user's answers to what servers ask: one registry for both eras."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syncline import logs
from syncline.errors import ConfigError
from syncline.protocol import codec, questions
from syncline.protocol.questions import (
    ELICITATION,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    ROOTS,
    SAMPLING,
    USER_REJECTED,
    ElicitRequest,
    Refusal,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from syncline.types import CreateMessageRequestParams, CreateMessageResult

    #: Returns the filled-in form, or True for a URL that is agreed to; None declines; raise ``Cancel`` to cancel.
    OnElicitation: TypeAlias = Callable[[ElicitRequest], Mapping[str, object] | bool | None]
    #: Returns the model's words, or a whole result; None refuses.
    OnSampling: TypeAlias = Callable[
        [CreateMessageRequestParams], str | CreateMessageResult | Mapping[str, object] | None
    ]
    #: Folders, as paths or ``file:`` URIs, or what is needed for a name: ``{"uri": ..., "name": ...}``.
    Roots: TypeAlias = Sequence[str | os.PathLike[str] | Mapping[str, str]]


class Cancel(Exception):
    """Raised by an elicitation handler: the person neither accepted nor declined."""


class Handlers:
    """What the user registered. A question that nobody handles is refused, and its capability is not declared.

    Methods are called on whatever thread the handler is to run on, and may block for as long as a person takes.
    """

    def __init__(
        self,
        server: str,
        on_elicitation: OnElicitation | None = None,
        on_sampling: OnSampling | None = None,
        roots: Roots | Callable[[], Roots] | None = None,
    ) -> None:
        self._server = server
        self._on_elicitation = on_elicitation
        self._on_sampling = on_sampling
        self._roots = roots
        if roots is not None and not callable(roots):
            _root_list(roots)

    def declared(self, by_hand: Mapping[str, object]) -> dict[str, object]:
        """The client capabilities: what is handled, and what the user declares by hand on top."""
        own: dict[str, object] = {}
        if self._on_elicitation is not None:
            own["elicitation"] = {"form": {}, "url": {}}
        if self._on_sampling is not None:
            own["sampling"] = {}
        if self._roots is not None:
            own["roots"] = {}
        return {**own, **by_hand}

    def handles(self, method: str) -> bool:
        """Whether there is an answer to this kind of question."""
        return {
            ELICITATION: self._on_elicitation,
            SAMPLING: self._on_sampling,
            ROOTS: self._roots,
        }.get(method) is not None

    def answer(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """The result for a question. Raises ``Refusal``, and whatever the user's own handler raises."""
        if not self.handles(method):
            raise Refusal(METHOD_NOT_FOUND, f"the client does not offer {method}")
        if method == ELICITATION:
            return self._elicit(params)
        if method == SAMPLING:
            return self._sample(params)
        roots = self._roots() if callable(self._roots) else self._roots
        return {"roots": _root_list(roots or ())}

    def answer_or_refuse(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """As ``answer()``, but a handler that fails is a refusal that does not tell the server why."""
        try:
            return self.answer(method, params)
        except Refusal:
            raise
        except Exception as error:
            logs.wire.exception("%s: the handler of %s failed", self._server, method)
            raise Refusal(INTERNAL_ERROR, f"the client's handler failed ({type(error).__name__})") from error

    def _elicit(self, params: Mapping[str, object]) -> dict[str, object]:
        request = questions.elicitation(self._server, params)
        assert self._on_elicitation is not None
        try:
            answer = self._on_elicitation(request)
        except Cancel:
            return {"action": "cancel"}
        return questions.answered(request, answer)

    def _sample(self, params: Mapping[str, object]) -> dict[str, object]:
        request: CreateMessageRequestParams = codec.model("CreateMessageRequestParams", params, lambda *_: None)
        assert self._on_sampling is not None
        answer = self._on_sampling(request)
        if answer is None:
            raise Refusal(USER_REJECTED, "the user rejected the sampling request")
        if isinstance(answer, str):
            return {"role": "assistant", "model": "unknown", "content": {"type": "text", "text": answer}}
        if isinstance(answer, Mapping):
            return dict(answer)
        return answer.to_wire()


def _root_list(roots: Roots) -> list[dict[str, str]]:
    if isinstance(roots, (str, os.PathLike, Mapping)):  # the letters of a path would be folders, "/" among them
        raise ConfigError(f"roots is a list of folders, not one of them: roots=[{roots!r}]")
    listed = []
    for root in roots:
        if not isinstance(root, (str, os.PathLike, Mapping)):
            raise ConfigError(f"a root is a folder, as a path or a file: URI, not {root!r}")
        entry = dict(root) if isinstance(root, Mapping) else {"uri": _file_uri(root)}
        if not str(entry.get("uri", "")).startswith("file://"):
            raise ConfigError(f"a root is a folder, as a path or a file: URI, not {entry.get('uri')!r}")
        listed.append(entry)
    return listed


def _file_uri(root: str | os.PathLike[str]) -> str:
    text = os.fspath(root)
    return text if "://" in text else Path(text).resolve().as_uri()
