-- The table of the "MCP integration guide" (Flyway V7); one that is there already is taken over as it stands.
create table if not exists mcp_servers (
    id              varchar(36)     primary key,
    name            varchar(100)    not null,
    description     varchar(500),
    transport_type  varchar(20)     not null,
    config          text            not null default '{}',
    version         varchar(50),
    auto_connect    boolean         not null default false,
    created_at      timestamp       not null default current_timestamp,
    updated_at      timestamp       not null default current_timestamp
);
create unique index if not exists idx_mcp_servers_name on mcp_servers(name);
