"""What all faces share: the names of models, Plan B's tickets, and the answers with what their next turns need."""

from __future__ import annotations

from naru.web.face.answers import Answers
from naru.web.face.hub import ChatHub
from naru.web.face.names import ModelNames
from naru.web.face.plan_b import TicketDesk
from naru.web.face.tickets import Tickets
from naru.web.routes import Endpoint


class Core:
    """One for an application."""

    def __init__(self, hub: ChatHub) -> None:
        self.hub = hub
        self.names = ModelNames(hub)
        # Where other hubs are, a ticket may be redeemed at another one than it was minted at.
        self.tickets = Tickets(hub.settings.hub.data_dir / "tickets" if hub.commons.me else None)
        self.answers = Answers(hub)

    def endpoints(self) -> list[Endpoint]:
        """Return the rows that belong to no face alone."""
        return TicketDesk(self.hub, self.tickets).endpoints()
