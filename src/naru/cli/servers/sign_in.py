"""`naru servers login` and `logout`: sign in at a server's authorization server, with the browser of this machine.

The answer comes to a port of this machine that is open for it alone. With a hub that runs here it is the hub that signs
in, for the key of the command (NARU_SERVER__API_KEY); else it is done in the data folder, where the hub will find it.
"""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

import typer

from naru.cli.checks.addresses import is_http
from naru.cli.options import Config, settings_from
from naru.cli.running_hub import RunningHub, server_path
from naru.cli.servers.stored import Name, open_stored, registered
from naru.cli.terminal.output import AsJson, print_json, print_note
from naru.config import Settings
from naru.connections.credentials import owner_of
from naru.connections.link.surroundings import expanded
from naru.connections.oauth.signins import SignIns, Wish
from naru.connections.open import open_signins
from naru.errors import UserError
from naru.persons import LOCAL, Person
from naru.records import ServerRecord
from naru.telemetry.audit import audit_once

PATH = "/oauth/callback"
_LOOK_SECONDS = 0.5
WAIT_SECONDS = 600.0


@dataclass
class _Answer:
    state: str = ""
    """What an answer must bring; empty until the question is asked."""
    got: dict[str, str] = field(default_factory=dict)
    came: threading.Event = field(default_factory=threading.Event)


def login(
    name: Name,
    browser: Annotated[bool, typer.Option(help="Open a browser; else only print where to go.")] = True,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Sign in at a server's authorization server, in a browser."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    answer = _Answer()
    # A thread for each: browsers open connections ahead of time, on which nothing comes.
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer))
    back = f"http://127.0.0.1:{listener.server_port}{PATH}"
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        if hub.answers():
            begun = hub.ask(server_path(name, "sign-in"), method="POST", body={"redirectUri": back})
            given = _wait_for(begun["url"], begun["state"], answer, open_browser=browser)
            done = hub.ask(server_path(name, "sign-in/answer"), method="POST", body=given)
            is_connected = bool(done["connected"])
        else:
            ask = partial(_wait_for, answer=answer, open_browser=browser)
            asyncio.run(_alone(settings, name, back, ask, answer.came))
            is_connected = False
    finally:
        listener.shutdown()
        listener.server_close()
    if as_json:
        print_json({"server": name, "signedIn": True, "connected": is_connected})
        return
    print(f"Signed in at {name}" + (", which is connected now" if is_connected else ""))


def logout(name: Name, config: Config = None, as_json: AsJson = False) -> None:
    """Sign out at a server: forget the tokens and have them revoked."""
    settings = settings_from(config)
    hub = RunningHub(settings)
    if hub.answers():
        told = hub.ask(server_path(name, "sign-in"), method="DELETE")
    else:
        told = asyncio.run(_out(settings, name))
    if as_json:
        print_json({"server": name, **told})
        return
    print(f"Signed out at {name}")
    if not told["revoked"]:
        print_note(f"The tokens are forgotten here, and could not be revoked: {told.get('why', '')}")


def _handler(answer: _Answer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
            asked = urlsplit(self.path)
            given = dict(parse_qsl(asked.query))
            is_back = asked.path == PATH and bool(answer.state) and given.get("state") == answer.state
            self.send_response(200 if is_back else 404)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.end_headers()
            self.wfile.write(b"You can close this page and go back to the terminal.\n" if is_back else b"")
            if is_back:
                answer.got = given
                answer.came.set()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
            """Say nothing: a code is no line for a terminal."""

    return Handler


def _go(url: str, *, open_browser: bool) -> None:
    if not is_http(url):
        raise UserError(f"The server wants a browser to open {url[:60]!r}, which is no web page.")
    print_note(f"Go to this address and sign in there; this command waits:\n{url}")
    if open_browser:
        webbrowser.open(url)


def _waited(answer: _Answer) -> dict[str, str]:
    if not answer.came.wait(WAIT_SECONDS):
        raise UserError("Nobody signed in within ten minutes.", remedy="Begin again.")
    known = ("state", "code", "iss", "error", "error_description")
    return {key: value for key, value in answer.got.items() if key in known}


def _wait_for(url: str, state: str, answer: _Answer, *, open_browser: bool) -> dict[str, str]:
    answer.state = state
    _go(url, open_browser=open_browser)
    return _waited(answer)


async def _alone(
    settings: Settings, name: str, back: str, ask: Callable[[str, str], dict[str, str]], came: threading.Event
) -> None:
    record, signins = await _opened(settings, name)
    try:
        owner = owner_of(record, Person(LOCAL))
        begun = await signins.begin(Wish(name, expanded(record), owner, LOCAL, back, by_browser=False))
        asking = asyncio.ensure_future(asyncio.to_thread(ask, begun.url, begun.state))
        try:
            # A Ctrl-C just before the loop goes to sleep does not wake it: it must not sleep for long.
            while not asking.done():
                await asyncio.wait({asking}, timeout=_LOOK_SECONDS)
            answer = await asking
        finally:
            came.set()  # whoever interrupts ends the thread's waiting, too
        audit_once(settings, "server.signing_in", server=name)  # before, so that no token comes unseen
        await signins.finish(answer, asker=LOCAL)
        audit_once(settings, "server.signed_in", server=name)
    finally:
        await signins.close()


async def _out(settings: Settings, name: str) -> dict[str, Any]:
    record, signins = await _opened(settings, name)
    audit_once(settings, "server.signed_out", server=name)
    try:
        trouble = await signins.sign_out(owner_of(record, Person(LOCAL)), name)
    finally:
        await signins.close()
    return {"revoked": not trouble, **({"why": trouble} if trouble else {})}


async def _opened(settings: Settings, name: str) -> tuple[ServerRecord, SignIns]:
    async with open_stored(settings) as store:
        record = await registered(store, name)
    if "url" not in record.config:
        raise UserError(
            f"Server {name!r} is a program, at which nobody signs in.",
            remedy=f"Store what it needs with: naru servers secret set {name} NAME",
        )
    return record, open_signins(settings)
