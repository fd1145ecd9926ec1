"""What a task asks while it runs, and our answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from syncline.concurrency.locks import new_lock
from syncline.concurrency.workers import spawn
from syncline.errors import InputRequired
from syncline.protocol.questions import Refusal

if TYPE_CHECKING:
    from typing import TypeAlias

    #: Called with the method and the params of a question, as JSON; returns its result, as JSON. May block.
    Answer: TypeAlias = Callable[[str, Mapping[str, object]], Mapping[str, object]]


class Questions:
    """Answers each question of one task once, on threads of its own: a person may take long, and the task has a clock.

    A question comes with every look at the task until the server has taken the answer in, and its key is never used again
    (extension tasks, input required). One whose answer failed, or could not be sent, is asked again by a later look.
    """

    def __init__(
        self,
        name: str,
        answer: Answer | None,
        send: Callable[[Mapping[str, object]], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._name = name
        self._answer = answer
        self._send = send
        self._failed = failed
        self._lock = new_lock()
        self._taken: set[str] = set()
        self._busy = 0

    @property
    def busy(self) -> bool:
        """Whether somebody is being asked."""
        return self._busy > 0

    def take(self, asked: Mapping[str, Mapping[str, Any]]) -> Mapping[str, object]:
        """Have the new ones answered, and never block; those for which there is nobody to ask are returned."""
        with self._lock:
            fresh = {key: question for key, question in asked.items() if key not in self._taken}
            if not fresh or self._answer is None:
                return fresh
            self._taken.update(fresh)
            self._busy += 1
        answer = self._answer
        spawn(self._name, lambda: self._run(fresh, answer))
        return {}

    def answered(self, keys: Iterable[str]) -> None:
        """Somebody else has."""
        with self._lock:
            self._taken.update(keys)

    def _run(self, fresh: dict[str, Mapping[str, Any]], answer: Answer) -> None:
        try:
            while fresh:
                key, question = next(iter(fresh.items()))
                self._send({key: _ask(answer, key, question)})
                del fresh[key]
        except BaseException as error:
            with self._lock:
                self._taken.difference_update(fresh)
            self._failed(error)
        finally:
            with self._lock:
                self._busy -= 1


def _ask(answer: Answer, key: str, question: Mapping[str, Any]) -> Mapping[str, object]:
    try:
        return answer(question["method"], question.get("params", {}))
    except Refusal as refusal:
        raise InputRequired(refusal.message, requests={key: question}, request_state=None) from refusal
