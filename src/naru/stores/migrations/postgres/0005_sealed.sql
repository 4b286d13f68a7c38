-- What persons gave for servers, sealed by the hubs: each hub's vault is a copy of it.
create table if not exists naru_sealed (
    person     text        not null,
    server     text        not null,
    kind       text        not null,
    value      bytea       not null,
    at         bigint      not null,
    primary key (person, server, kind)
);
