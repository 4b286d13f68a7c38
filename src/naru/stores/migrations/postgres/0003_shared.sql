-- What several hubs on this database hold in common.
create table if not exists naru_documents (
    name       text        primary key,
    version    bigint      not null,
    content    bytea       not null
);
create sequence if not exists naru_document_versions;
create table if not exists naru_members (
    id         text        primary key,
    address    text        not null,
    lock       integer     not null
);
create table if not exists naru_runs (
    id         text        primary key,
    started_at bigint      not null,
    model      text        not null,
    question   text        not null,
    reason     text        not null,
    caller     text        not null,
    seconds    double precision not null,
    body       text        not null
);
create index if not exists naru_runs_by_time on naru_runs (started_at desc);
create table if not exists naru_responses (
    id         text        primary key,
    caller     text        not null,
    previous   text,
    created_at bigint      not null,
    input      text        not null,
    response   text        not null
);
create index if not exists naru_responses_by_time on naru_responses (created_at);
-- Whoever changes a server, a command or a person at the database included, is heard at once.
create or replace function naru_tell_servers() returns trigger language plpgsql as
    $$ begin perform pg_notify('naru', '{"from": "", "topic": "servers", "what": null}'); return null; end $$;
drop trigger if exists naru_servers_changed on mcp_servers;
create trigger naru_servers_changed after insert or update or delete on mcp_servers
    for each statement execute function naru_tell_servers();
