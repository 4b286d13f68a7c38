create table mcp_servers (
    id              varchar(36)   primary key,
    name            varchar(100)  not null,
    description     text,
    transport_type  varchar(20)   not null,
    config          text          not null default '{}',
    version         varchar(50),
    auto_connect    boolean       not null default false,
    created_at      integer       not null,
    updated_at      integer       not null
);
create unique index idx_mcp_servers_name on mcp_servers(name);
