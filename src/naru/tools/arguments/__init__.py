"""A call's arguments against a tool's own schema: fitted, checked, a wrong name told with the right one."""
