"""What goes with a tool's call beside what the caller gave: who asks, and the headers that its tool wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from naru.connections.session.catalogue import ToolCatalogue
from naru.connections.session.options import RequestOptions
from naru.connections.wire.protocol import META_PERSON, Era, parameter_header_values
from naru.messages import Json
from naru.persons import current_person
from naru.records import ServerRecord


def call_options(
    record: ServerRecord,
    catalogue: ToolCatalogue,
    era: Era,
    params: Mapping[str, Json] | None,
    options: RequestOptions,
) -> RequestOptions:
    """Return the options of a call with the person, where the server's entry says `tellPerson`, and its headers.

    Who asks is what the gate verified: what a client wrote in that place is overwritten.
    """
    if record.tells_person:
        options = replace(options, meta={**options.meta, META_PERSON: current_person.get().id})
    if era != "modern" or not catalogue.headers or not params:
        return options
    wanted = catalogue.headers.get(str(params.get("name")))
    arguments = params.get("arguments")
    if not wanted or not isinstance(arguments, dict):
        return options
    return replace(options, headers={**options.headers, **parameter_header_values(wanted, arguments)})
