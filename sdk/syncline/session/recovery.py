"""Session expiry (handshake era over HTTP): a new handshake for all who need one, then each call once more.

A 404 to a request that carried our session id says that the server does not know the session and did not process the
request (specification, basic/transports, session management), so repeating it is safe, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.errors import RequestTimeout, SessionExpired

Result = TypeVar("Result")


class Recovery:
    """Counts the sessions of one connection, and renews them one caller at a time.

    Args:
        name: The server, for the log.
        renew: Makes a new session, and restores on it what the old one had; under the deadline.
    """

    def __init__(self, name: str, renew: Callable[[Deadline], None]) -> None:
        self.generation = 0
        self._name = name
        self._renew = renew
        self._renewal = new_lock()
        self._renewing = False
        self._expired = False

    def run(self, exchange: Callable[[], Result], deadline: Deadline) -> Result:
        """Make an exchange; if the session turns out to have expired, renew it and make the exchange once more.

        Who comes while a session is being renewed waits for it. A second expiry in one call is an error.
        """
        if self._renewing or self._expired:
            self._once(lambda: self._see_to_it(deadline), deadline)
        generation = self.generation
        try:
            return exchange()
        except SessionExpired as error:
            logs.wire.info("%s: the session has expired: %s", self._name, error.message)
            self.replace(generation, lambda: self._renewed(deadline), deadline)
            return exchange()

    def _see_to_it(self, deadline: Deadline) -> None:
        """An earlier caller may have failed to renew it, or succeeded while we waited."""
        if self._expired:
            self._counted(self.generation, lambda: self._renewed(deadline))

    def _renewed(self, deadline: Deadline) -> None:
        self._expired = True
        self._renew(deadline)

    def replace(self, generation: int, work: Callable[[], None], deadline: Deadline) -> None:
        """Do something that makes a session anew, unless somebody has done it since that generation."""
        self._once(lambda: self._counted(generation, work), deadline)

    def _counted(self, generation: int, work: Callable[[], None]) -> None:
        if self.generation == generation:
            work()
            self.generation += 1
            self._expired = False

    def _once(self, work: Callable[[], None], deadline: Deadline) -> None:
        taken: list[bool] = []
        try:
            if not take(self._renewal, deadline, taken):
                raise RequestTimeout("the session was still being renewed when the time was over")
            self._renewing = True
            work()
        finally:
            if True in taken:
                self._renewing = False
                self._renewal.release()
