"""A request's tools in the form its wire takes, and names mapped there and back (N6, R8). Converted once, kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import field, replace

import orjson

from naru.facts import fact
from naru.messages import ChatRequest, JsonObject, ToolDefinition
from naru.tools.provider_schemas.forms import ProviderForm, provider_form

_FORMS_KEPT = 128
_forms: OrderedDict[bytes, ProviderForm] = OrderedDict()


@fact()
class Offer:
    """What a wire is given."""

    request: ChatRequest
    """The caller's request, with names that the wire can send."""
    declarations: Mapping[str, JsonObject] = field(default_factory=dict)
    """Sent name → the tool's declaration."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Sent name → the caller's, where they differ."""

    def declared(self, sent: ChatRequest) -> list[JsonObject]:
        """Return the declarations of the tools that a prepared request still offers natively."""
        return [self.declarations[tool.name] for tool in sent.tools]

    def own_names(self, sent: ChatRequest) -> dict[str, str]:
        """Return the sent names of those tools, in the same order, and the caller's."""
        return {tool.name: self.names.get(tool.name, tool.name) for tool in sent.tools}


def offer(request: ChatRequest, provider: str, shape: str = "") -> Offer:
    """Return a request's tools in a provider's form; those that cannot be sent are left out and logged once.

    `shape` names the API that they are sent by, where that is not the provider's own.
    """
    if not request.tools:
        return Offer(request)
    form = _form_of(request, provider, shape)
    own = {definition.name: definition for definition in request.tools}
    tools = [replace(own[name], name=sent) if sent != name else own[name] for sent, name in form.names.items()]
    changed = {sent: name for sent, name in form.names.items() if sent != name}
    declarations = dict(zip(form.names, form.tools, strict=True))
    if not changed:
        same = len(tools) == len(request.tools)
        return Offer(request if same else replace(request, tools=tools), declarations)
    return Offer(_renamed(request, tools, {name: sent for sent, name in changed.items()}), declarations, changed)


def _form_of(request: ChatRequest, provider: str, shape: str) -> ProviderForm:
    asked = [provider, shape, [[tool.name, tool.description, tool.input_schema, tool.strict] for tool in request.tools]]
    try:
        key = orjson.dumps(asked, option=orjson.OPT_NON_STR_KEYS)
    except (orjson.JSONEncodeError, RecursionError):
        return provider_form(request.tools, provider, shape)
    form = _forms.get(key)
    if form is None:
        form = _forms[key] = provider_form(request.tools, provider, shape)
        if len(_forms) > _FORMS_KEPT:
            _forms.popitem(last=False)
    else:
        _forms.move_to_end(key)
    return form


def _renamed(request: ChatRequest, tools: list[ToolDefinition], sent: Mapping[str, str]) -> ChatRequest:
    """Use the sent names in the history and the choice as well."""
    messages = [
        replace(
            message,
            name=sent.get(message.name, message.name),
            tool_calls=tuple(replace(call, name=sent.get(call.name, call.name)) for call in message.tool_calls),
        )
        if message.tool_calls or message.role == "tool"
        else message
        for message in request.messages
    ]
    choice = request.tool_choice
    if isinstance(choice, dict) and isinstance(choice.get("function"), dict):
        named = choice["function"].get("name")
        choice = {**choice, "function": {**choice["function"], "name": sent.get(named, named)}}
    return replace(request, messages=messages, tools=tools, tool_choice=choice)
