"""A Slack of the tests' own: the Web API on loopback, and the requests that Slack sends when somebody presses."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from slack_bolt import App
from slack_bolt.request import BoltRequest
from slack_sdk import WebClient
from slack_sdk.signature import SignatureVerifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slack_bolt.response import BoltResponse

SECRET = "a signing secret"
ANSWERS: dict[str, dict[str, Any]] = {
    "auth.test": {"ok": True, "bot_id": "B1", "user_id": "U0", "team_id": "T1"},
    "chat.postMessage": {"ok": True, "channel": "C1", "ts": "1700000000.000100"},
}


@dataclass
class SlackApi:
    """What the app sent, a Bolt app that sends there, and the hand that presses its buttons."""

    origin: str
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def app(self) -> App:
        """Return a Bolt app, whose listeners run before it responds."""
        client = WebClient("xoxb-0", base_url=f"{self.origin}/api/")
        return App(signing_secret=SECRET, client=client, process_before_response=True)

    def sent(self, method: str) -> list[dict[str, Any]]:
        """Return what was sent to a method."""
        return [arguments for name, arguments in self.calls if name == method]

    @property
    def message(self) -> dict[str, Any]:
        """The message as it stands in the channel."""
        return [arguments for name, arguments in self.calls if name in {"chat.postMessage", "chat.update"}][-1]

    def button(self, action_id: str) -> dict[str, Any]:
        """Return a button of the message, as Slack sends it when it is pressed."""
        found = [
            {**element, "block_id": block["block_id"]}
            for block in self.message["blocks"]
            for element in [*block.get("elements", ()), *filter(None, [block.get("accessory")])]
            if element["action_id"].endswith(action_id)
        ]
        return found[0]

    def press(self, app: App, action: dict[str, Any], user: str = "U1", **headers: str) -> BoltResponse:
        """Press a button of the message."""
        body = {
            "type": "block_actions",
            "user": {"id": user, "team_id": "T1"},
            "team": {"id": "T1"},
            "container": {"type": "message", "channel_id": "C1", "message_ts": "1700000000.000100"},
            "trigger_id": "trigger",
            "actions": [action],
        }
        return dispatch(app, body, **headers)

    def submit(self, app: App, words: str | None, user: str = "U1", **changes: Any) -> BoltResponse:
        """Submit the modal that was opened last."""
        view = self.sent("views.open")[-1]["view"]
        state = {"values": {"words": {"words": {"type": "plain_text_input", "value": words}}}}
        body = {
            "type": "view_submission",
            "user": {"id": user, "team_id": "T1"},
            "team": {"id": "T1"},
            "view": {**view, "state": state, **changes},
        }
        return dispatch(app, body)


def dispatch(app: App, body: dict[str, Any], *, secret: str = SECRET, age: int = 0, **headers: str) -> BoltResponse:
    """Hand the app a request, signed as Slack signs it."""
    raw, timestamp = urlencode({"payload": json.dumps(body)}), str(int(time.time()) - age)
    signature = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=raw)
    usual = {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": str(signature),
    }
    return app.dispatch(BoltRequest(body=raw, headers={**usual, **headers}))


@contextmanager
def slack_api() -> Iterator[SlackApi]:
    """Run the Web API until the block ends."""
    api = SlackApi("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            text = self.rfile.read(length).decode()
            is_json = "json" in self.headers.get("content-type", "")
            arguments = json.loads(text) if is_json and text else dict(parse_qsl(text))
            method = self.path.rpartition("/")[2]
            for name in ("blocks", "view"):
                if isinstance(arguments.get(name), str):
                    arguments[name] = json.loads(arguments[name])
            api.calls.append((method, arguments))
            answer = json.dumps(ANSWERS.get(method, {"ok": True})).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        api.origin = f"http://127.0.0.1:{server.server_port}"
        try:
            yield api
        finally:
            server.shutdown()
            thread.join(10)
