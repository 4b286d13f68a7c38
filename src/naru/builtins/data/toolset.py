"""The data tools as a Toolset: for the hub, for `naru-data`, for agents in Python."""

from __future__ import annotations

from naru.builtins.data.sources import DataSources
from naru.builtins.data.tools import TOOLS
from naru.tools.dependencies import Container
from naru.tools.functions import FunctionToolset


def data_toolset(sources: DataSources | None = None) -> FunctionToolset:
    """Return the data tools; over given sources, which their owner closes, or over those of the environment."""
    container = Container()
    if sources is not None:
        container.provide_value("sources", sources)
    return FunctionToolset(TOOLS, container=container)
