"""Which era and version a server speaks: `server/discover` first, `initialize` beside it when that brings nothing."""

from __future__ import annotations

from dataclasses import replace

from naru.connections.session.options import RequestOptions
from naru.connections.session.session import CLIENT_INFO, Session
from naru.connections.state.faults import Failure, LinkError, RpcError, Stage
from naru.connections.wire.protocol import (
    LATEST_LEGACY,
    LATEST_MODERN,
    LEGACY_VERSIONS,
    META_SERVER_INFO,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    UNSUPPORTED_VERSION,
    Era,
)
from naru.messages import Json, JsonObject

PROTOCOLS: dict[str, tuple[Era, ...]] = {
    "auto": ("modern", "legacy"),
    "sessions": ("legacy",),
    "stateless": ("modern",),
}
"""What a record's `protocol` allows, in the order in which it is tried."""


async def negotiate(session: Session, eras: tuple[Era, ...], *, probe_seconds: float | None) -> None:
    """Settle era, version, capabilities and names of a session. The caller bounds the whole with a deadline.

    Args:
        session: freshly opened.
        eras: those to try, in this order.
        probe_seconds: how long `server/discover` may stay unanswered; None as long as the caller waits.

    Raises:
        LinkError: the server cannot be talked to, with stage `initialize`; `while_probing` when a server may have ended
            itself over a request that it does not know.
    """
    may_have_ended_it = False
    try:
        if eras[0] == "modern":
            is_spoken = await _discover(session, probe_seconds if len(eras) > 1 else None)
            if is_spoken:
                return
            may_have_ended_it = is_spoken is None  # a server that starts slowly reads the question later
            if len(eras) == 1:
                raise LinkError(_stateless_only())
            await _initialize(session)
        else:
            await _initialize_or_discover(session, eras, probe_seconds)
    except RpcError as error:
        versions = _supported(error)
        is_modern = error.error_code == UNSUPPORTED_VERSION and any(version in MODERN_VERSIONS for version in versions)
        knows_no_handshake = error.error_code == METHOD_NOT_FOUND
        # Said by a server that a slow probe had already made modern, or that was too slow for one and is nothing else.
        if (is_modern or knows_no_handshake) and "modern" in eras and await _discover(session, None):
            return
        raise LinkError(_refused(error, versions)) from error
    except LinkError as error:
        if error.failure.stage in ("call", "stream"):
            stage: Stage = "connect" if error.breaks_link and not error.delivered else "initialize"
            again = LinkError(replace(error.failure, stage=stage), session_gone=error.session_gone)
            again.breaks_link = error.breaks_link
            # What comes after a question that ended it may not even be delivered.
            may_have_ended_it = may_have_ended_it or (session.era == "modern" and error.delivered)
            again.while_probing = may_have_ended_it and "legacy" in eras
            raise again from error
        raise


async def _initialize_or_discover(session: Session, eras: tuple[Era, ...], probe_seconds: float | None) -> None:
    """Begin with the handshake; a server that does not know it may know the other era."""
    try:
        await _initialize(session)
    except RpcError:
        if "modern" not in eras or not await _discover(session, probe_seconds):
            raise


def _stateless_only() -> Failure:
    return Failure(
        "initialize",
        "version",
        "the server does not speak the stateless protocol, and `protocol` of its entry allows no other.",
        "Set `protocol` of its entry to auto or sessions.",
        retryable=False,
    )


async def _discover(session: Session, seconds: float | None) -> bool | None:
    """Probe for the modern era; False when the server does not speak it, None when it did not answer in time."""
    session.era, session.version = "modern", LATEST_MODERN
    is_late = False
    try:
        found = await session.request("server/discover", None, RequestOptions(timeout_seconds=seconds))
    except RpcError as error:
        versions = _supported(error)
        if error.error_code == UNSUPPORTED_VERSION and versions and not set(versions) & {*LEGACY_VERSIONS}:
            raise  # modern only, and no version in common
        found = {}
    except LinkError as error:
        if error.breaks_link or error.failure.needs_auth or error.failure.retry_after_seconds or not _may_be_old(error):
            raise
        found, is_late = {}, error.failure.code == "timeout"
    offered = found.get("supportedVersions")
    common = [version for version in MODERN_VERSIONS if isinstance(offered, list) and version in offered]
    if not common:
        session.era, session.version = "legacy", ""
        return None if is_late else False
    session.version = common[-1]
    _adopt(session, found, _info_in_meta(found))
    session.listen()
    return True


def _may_be_old(error: LinkError) -> bool:
    """Tell whether a failed probe can come from a server that merely does not know it: some answer HTTP 500."""
    return error.failure.code in ("timeout", "protocol", "cut") or error.failure.code.startswith(("http_4", "http_5"))


async def _initialize(session: Session) -> None:
    session.era, session.version = "legacy", ""
    params = {
        "protocolVersion": LATEST_LEGACY,
        "capabilities": session.hooks.capabilities,
        "clientInfo": CLIENT_INFO,
    }
    found = await session.request("initialize", params)
    version = found.get("protocolVersion")
    if version not in LEGACY_VERSIONS:
        failure = Failure(
            "initialize",
            "version",
            f"the server speaks protocol version {version!r}, which Naru does not.",
            "Update the server or Naru.",
            retryable=False,
        )
        raise LinkError(failure)
    session.version = str(version)
    _adopt(session, found, found.get("serverInfo"))
    await session.notify("notifications/initialized")
    session.listen()


def _adopt(session: Session, found: JsonObject, info: Json) -> None:
    capabilities = found.get("capabilities")
    # A server that declares nothing at all may still have tools; asking costs one request. Some say `true` for `{}`.
    declared = capabilities if isinstance(capabilities, dict) else {"tools": {}}
    session.capabilities = {
        name: one if isinstance(one, dict) else {}
        for name, one in declared.items()
        if one is not None and one is not False
    }
    session.server_info = info if isinstance(info, dict) else {}
    session.instructions = str(found.get("instructions") or "")


def _info_in_meta(found: JsonObject) -> Json:
    meta = found.get("_meta")
    return meta.get(META_SERVER_INFO) if isinstance(meta, dict) else None


def _supported(error: RpcError) -> list[str]:
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    return [str(version) for version in supported] if isinstance(supported, list) else []


def _refused(error: RpcError, versions: list[str]) -> Failure:
    if versions:
        return Failure(
            "initialize",
            "version",
            f"the server speaks only {', '.join(versions)}.",
            "Update the server or Naru.",
            retryable=False,
        )
    return Failure("initialize", "rpc_error", f"the server refused to begin: {error}.", "See the server's own log.")


async def ping(session: Session, seconds: float) -> bool:
    """Tell whether the server answers anything at all within the time.

    Raises:
        LinkError: the link is dead, or the server does not know our session any more.
    """
    # The modern era has no ping; discovery is mandatory there and as cheap.
    method = "server/discover" if session.era == "modern" else "ping"
    try:
        await session.request(method, None, RequestOptions(timeout_seconds=seconds))
    except RpcError:
        return True
    except LinkError as error:
        if error.failure.code == "timeout":
            return False
        raise
    return True
