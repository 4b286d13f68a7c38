"""What may follow the `?` of a MySQL URL, as MySQL's and MariaDB's clients, SQLAlchemy and PyMySQL spell it.

TLS is as strict as the strictest of them asks; with none of them it is used where the server offers it.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from naru.errors import ConfigError
from naru.paths import at_home

MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
"""MySQL's values of `ssl-mode`, from lax to strict."""
_ASKED_BY_FILE = {"ssl-ca": "VERIFY_CA", "ssl-cert": "REQUIRED", "ssl-key": "REQUIRED"}
_ASKED_BY_TRUTH = {
    "ssl": {True: "REQUIRED", False: "DISABLED"},
    "ssl-disabled": {True: "DISABLED"},
    "ssl-verify-cert": {True: "VERIFY_CA"},
    "ssl-verify-identity": {True: "VERIFY_IDENTITY"},
    "ssl-verify-server-cert": {True: "VERIFY_IDENTITY"},
}
_TRUTHS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
_CHARSETS = ("utf8mb4", "utf8mb3", "utf8")
"""Whichever is written, `utf8mb4` is spoken, which holds the others."""
_OPTIONS = {
    name.replace("-", ""): name for name in ("unix-socket", "charset", "ssl-mode", *_ASKED_BY_FILE, *_ASKED_BY_TRUTH)
}


def options_of(query: str) -> dict[str, Any]:
    """Return PyMySQL's arguments for a URL's query.

    Raises:
        ConfigError: it has an option or a value that is not known here, or a file of it cannot be used.
    """
    if "@" in query:
        raise ConfigError(
            "The database's URL has an @ after its ?, where a password may have been parted.",  # so it is not told
            remedy="Write special characters with %-codes: %3F for ?, %40 for @.",
        )
    given: dict[str, str] = {}
    for written, value in parse_qsl(query, keep_blank_values=True):
        name = _OPTIONS.get(written.replace("-", "").replace("_", "").casefold())
        if name is None:
            raise ConfigError(
                f"The database's URL has the option {written!r}, which is not known for MySQL.",
                remedy=f"Leave it out; what may be said is {', '.join(_OPTIONS.values())}.",
            )
        given[name] = value
    if given.get("charset", "utf8mb4").casefold() not in _CHARSETS:
        raise _wrong("charset", given, "utf8mb4")
    socket = {"unix_socket": given["unix-socket"]} if given.get("unix-socket") else {}
    return socket | _tls(given)


def _tls(given: Mapping[str, str]) -> dict[str, Any]:
    asked = [mode for name, mode in _ASKED_BY_FILE.items() if name in given]
    for name, modes in _ASKED_BY_TRUTH.items():
        if name in given:
            truth = _TRUTHS.get(given[name].casefold())
            if truth is None:
                raise _wrong(name, given, "true or false")
            asked += [modes[truth]] if truth in modes else []
    if "ssl-mode" in given:
        asked.append(given["ssl-mode"].upper().replace("-", "_"))
        if asked[-1] not in MODES:
            raise _wrong("ssl-mode", given, f"one of {', '.join(MODES)}")
    mode = max(asked, key=MODES.index, default="PREFERRED")
    if mode == "PREFERRED":
        return {}
    return {"ssl_disabled": True} if mode == "DISABLED" else {"ssl": _context(mode, given)}


def _context(mode: str, given: Mapping[str, str]) -> ssl.SSLContext:
    """Build what PyMySQL refuses to connect without; its own `ssl_verify_identity` needs an `ssl_ca` to do anything."""
    files = {name: str(at_home(given[name])) for name in _ASKED_BY_FILE if name in given}
    try:
        context = ssl.create_default_context(cafile=files.get("ssl-ca"))
        if "ssl-cert" in files or "ssl-key" in files:
            context.load_cert_chain(files.get("ssl-cert", ""), files.get("ssl-key"))
    except OSError as error:
        raise ConfigError(
            f"A certificate or key of the database's URL cannot be used ({', '.join(files)}): {error}.",
            remedy="Give the paths of PEM files that can be read; a certificate goes with its key.",
        ) from error
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which the certificates that servers make themselves do not pass
    context.check_hostname = mode == "VERIFY_IDENTITY"
    context.verify_mode = ssl.CERT_REQUIRED if mode.startswith("VERIFY") else ssl.CERT_NONE
    return context


def _wrong(name: str, given: Mapping[str, str], known: str) -> ConfigError:
    return ConfigError(f"The database's URL has {name}={given[name]}, which is not known.", remedy=f"Write {known}.")
