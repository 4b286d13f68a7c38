alter table mcp_servers alter column description type text;
alter table mcp_servers alter column version type text;
