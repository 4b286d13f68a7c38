"""A call that waits for its person's sign-in at a server: the client is shown the console's page for that.

The page's address says which server and nothing else: whoever opens it signs in at the console as themselves, and
presses "Sign in" there, so that what comes of it is theirs. Nothing is kept here: the call is simply made again.
"""

from __future__ import annotations

import uuid
from typing import Final
from urllib.parse import quote

from naru.connections.state.faults import Failure
from naru.gateway.requests.core import Core
from naru.gateway.requests.results import finish
from naru.gateway.sessions.exchange import Exchange
from naru.gateway.sessions.parked import input_required
from naru.gateway.wire.protocol import URL_ELICITATION, RpcError, has
from naru.messages import JsonObject

KEY: Final = "naru.sign_in"
"""Of our own question among those of servers."""


def without_answer(params: JsonObject) -> tuple[JsonObject, bool]:
    """Return a call without the answer to our question, which no server is to see, and whether there was one.

    One call shows the page once: who accepted it and is not signed in yet, or declined, is told what is wrong.
    """
    answers = params.get("inputResponses")
    if not isinstance(answers, dict) or KEY not in answers:
        return params, False
    others = {key: answer for key, answer in answers.items() if key != KEY}
    rest = {key: value for key, value in params.items() if key != "inputResponses"}
    return {**rest, "inputResponses": others} if others else rest, True


def page(core: Core, exchange: Exchange, server: str, failure: Failure | None) -> JsonObject | None:
    """Return the result that shows a stateless client the page; None where no page would help, or cannot be shown.

    Raises:
        RpcError: -32042, which shows it to a client of sessions.
    """
    if failure is None or not failure.by_sign_in or exchange.address is None:
        return None
    is_asked = exchange.may_be_asked("elicitation/create", {"mode": "url"}) and has(exchange.version, "url elicitation")
    if not is_asked or not core.upstreams.may_sign_in(server):
        return None
    again = " again" if failure.code == "insufficient_scope" else ""
    said = f"MCP server {server!r} wants you to sign in{again}. Open its page in Naru with your own key or account, "
    said += f"press “Sign in{again}”, and make the call again when you are signed in."
    shown: JsonObject = {
        "mode": "url",
        "message": said,
        "url": f"{exchange.address()}/#/servers/{quote(server, safe='')}",
    }
    if not exchange.modern:
        raise RpcError(URL_ELICITATION, said, {"elicitations": [{**shown, "elicitationId": str(uuid.uuid4())}]})
    asked = input_required({KEY: {"method": "elicitation/create", "params": shown}}, "")
    return finish(asked, exchange, "tools/call")
