"""Settings: what there is (`settings`, `mcp`), where it comes from (`loading`, sole reader of the environment)."""

from naru.config.guests import GuestSettings
from naru.config.loading import (
    check_private,
    environment,
    load_settings,
    settings_path,
    underscored,
)
from naru.config.mcp import DeclaredServer, McpSettings, PolicySettings, ReconnectionSettings, SignInSection
from naru.config.model import EndpointSettings, LimitSettings, ModelSettings
from naru.config.oauth import OAuthSettings
from naru.config.roles import RoleSettings
from naru.config.settings import (
    AgentSettings,
    ChatSettings,
    DataSettings,
    GatewaySection,
    HubSettings,
    ServerSettings,
    Settings,
)
from naru.config.telemetry import ApprovalSettings, AuditSettings, TelemetrySettings
from naru.config.tools import ToolsSettings
from naru.config.yaml_text import decode_yaml, what_failed

__all__ = [
    "AgentSettings",
    "ApprovalSettings",
    "AuditSettings",
    "ChatSettings",
    "DataSettings",
    "DeclaredServer",
    "EndpointSettings",
    "GatewaySection",
    "GuestSettings",
    "HubSettings",
    "LimitSettings",
    "McpSettings",
    "ModelSettings",
    "OAuthSettings",
    "PolicySettings",
    "ReconnectionSettings",
    "RoleSettings",
    "ServerSettings",
    "Settings",
    "SignInSection",
    "TelemetrySettings",
    "ToolsSettings",
    "check_private",
    "decode_yaml",
    "environment",
    "load_settings",
    "settings_path",
    "underscored",
    "what_failed",
]
