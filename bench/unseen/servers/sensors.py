"""Sensors in a plant: device ids, metrics, thresholds, hours back; camelCase and terse descriptions."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("sensors")

DEVICES = {
    "dev-a1": {"deviceId": "dev-a1", "site": "Boiler room", "model": "TH-200", "battery": 87},
    "dev-b2": {"deviceId": "dev-b2", "site": "Cold store", "model": "TH-200", "battery": 14},
    "dev-c3": {"deviceId": "dev-c3", "site": "Paint shop", "model": "VOC-9", "battery": 63},
}
READINGS = {
    ("dev-a1", "temperature"): 71.4, ("dev-a1", "humidity"): 22.0, ("dev-b2", "temperature"): -18.6,
    ("dev-b2", "humidity"): 65.0, ("dev-c3", "voc"): 340.0, ("dev-c3", "temperature"): 24.2,
}  # fmt: skip
ALARMS = [
    {"alarmId": 501, "deviceId": "dev-b2", "severity": "warning", "message": "battery low"},
    {"alarmId": 502, "deviceId": "dev-c3", "severity": "critical", "message": "VOC above limit"},
]
Metric = Literal["temperature", "humidity", "voc"]


@mcp.tool()
def listDevices() -> list[dict]:
    """All devices with their site."""
    return [{"deviceId": one["deviceId"], "site": one["site"]} for one in DEVICES.values()]


@mcp.tool()
def getDevice(deviceId: str) -> dict:
    """Model and battery level (percent) of a device."""
    if deviceId not in DEVICES:
        raise ToolError(f"unknown device {deviceId}")
    return DEVICES[deviceId]


@mcp.tool()
def readSensor(deviceId: str, metric: Metric) -> dict:
    """Latest value of one metric of a device."""
    if (deviceId, metric) not in READINGS:
        raise ToolError(f"device {deviceId} has no {metric} sensor")
    return {"deviceId": deviceId, "metric": metric, "value": READINGS[deviceId, metric]}


@mcp.tool()
def history(deviceId: str, metric: Metric, hours: Annotated[int, Field(description="how far back", ge=1)] = 24) -> dict:
    """Minimum, maximum and mean of a metric over the last hours."""
    value = READINGS.get((deviceId, metric))
    if value is None:
        raise ToolError(f"device {deviceId} has no {metric} sensor")
    return {"minimum": value - hours / 10, "maximum": value + hours / 10, "mean": value, "hours": hours}


@mcp.tool()
def activeAlarms(severity: Literal["info", "warning", "critical"] | None = None) -> list[dict]:
    """Alarms that are active now."""
    return [one for one in ALARMS if severity in (None, one["severity"])]


@mcp.tool()
def acknowledgeAlarm(alarmId: int, comment: str = "") -> str:
    """Acknowledge an alarm."""
    return f"Alarm {alarmId} acknowledged"


if __name__ == "__main__":
    mcp.run()
