"""Tools of our own under the same supervision as servers' (N15): a person's yes where one is needed, and the audit."""

from __future__ import annotations

from naru.messages import JsonObject, ToolResult
from naru.tools.supervision.calls import Call, Came, Supervision
from naru.tools.toolset import CallContext, Toolset, definition_of
from naru.tools.wrappers import WrapperToolset


class SupervisedToolset(WrapperToolset):
    """Passes everything on; each call goes through the supervision under the given server's name."""

    def __init__(self, inner: Toolset, server: str, supervision: Supervision) -> None:
        super().__init__(inner)
        self._server = server
        self._supervision = supervision

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool once it may be called.

        Raises:
            PolicyError: it was denied, or nobody answered.
        """
        definition = await definition_of(self.inner, name)
        call = Call(self._server, name, arguments, context.caller, definition)
        return await self._supervision.run(call, lambda: self.inner.call(name, arguments, context), _came)


def _came(result: ToolResult) -> Came:
    return Came(result.is_error, len(result.text))
