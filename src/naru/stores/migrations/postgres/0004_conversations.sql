-- Conversations of the Responses API.
create table if not exists naru_conversations (
    id         text        primary key,
    caller     text        not null,
    created_at bigint      not null,
    touched_at bigint      not null,
    metadata   text        not null
);
create index if not exists naru_conversations_by_time on naru_conversations (touched_at);
create table if not exists naru_conversation_items (
    position     bigint generated always as identity primary key,
    conversation text   not null,
    id           text   not null,
    item         text   not null,
    unique (conversation, id)
);
