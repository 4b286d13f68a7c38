-- How much a kept response takes; 0 as long as it is being made.
alter table naru_responses add column if not exists size bigint not null default 0;
update naru_responses set size = octet_length(input) + octet_length(response);
create index if not exists naru_responses_by_size on naru_responses (created_at desc, id desc, caller, size);
