"""The sample server as these tests need it, over stdio: `python -m tests.process.server PIDS [OPTION]...`.

It adds its process id to the file PIDS. `stubborn` ignores the end of its input and SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from tools.fakeserver.catalogue import META, Call, Catalogue, Json, object_schema, text
from tools.fakeserver.samples import sample_catalogue
from tools.fakeserver.stdio_faults import Faults
from tools.fakeserver.stdio_main import StdioServer

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def prepare(catalogue: Catalogue) -> Catalogue:
    """Add what can be waited for: a tool that asks a person, a change stream, and how to cause a change."""
    changed = threading.Event()

    def ask(call: Call) -> object:
        params = {"message": "Go on?", "requestedSchema": object_schema({"go": {"type": "boolean"}})}
        if call.revision is None:
            return text(str(call.ask("elicitation/create", params, 60)["result"]["action"]))
        answers = call.params.get("inputResponses")
        if answers is None:
            asked = {"method": "elicitation/create", "params": params | {"mode": "form"}}
            return {"resultType": "input_required", "inputRequests": {"q": asked}, "requestState": "1"}
        return text(str(answers["q"]["action"]))

    def listen(call: Call) -> Json:
        meta = {META + "subscriptionId": call.message["id"]}
        call.notify(ACKNOWLEDGED, {"notifications": call.params["notifications"], "_meta": meta})
        while True:
            call.wait(changed.wait, 600)
            changed.clear()
            call.notify("notifications/tools/list_changed", {"_meta": meta})

    def change(call: Call) -> object:
        changed.set()
        if call.revision is None:
            call.notify("notifications/tools/list_changed", {})
        return text("changed")

    catalogue.tool("ask", ask)
    catalogue.tool("change", change)
    catalogue.methods["subscriptions/listen"] = listen
    catalogue.capabilities["tools"] = {"listChanged": True}
    return catalogue


class Server(StdioServer):
    """Lets a change stream wait on a thread of its own."""

    def _handle(self, message: Json) -> None:
        if message.get("method") == "subscriptions/listen" and threading.current_thread() is threading.main_thread():
            threading.Thread(target=self._handle, args=(message,), daemon=True).start()
        else:
            super()._handle(message)


def main() -> None:
    with Path(sys.argv[1]).open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    stubborn = "stubborn" in sys.argv
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        Server(prepare(sample_catalogue()), Faults([]), None).run()
    except BrokenPipeError:
        if not stubborn:
            os._exit(0)
    if stubborn:
        time.sleep(600)


if __name__ == "__main__":
    main()
