-- Elsewhere: one MERGE after the other makes reads need more memory, because each leaves files that
-- mark deletions. Here a shard has one patch, however many statements changed the shard.

create table ${t} (id bigint, label int, payload string) using zrecord;
insert into ${t} select /*+ coalesce(1) */ id, 0, repeat('x', 100) from range(1000);

merge into ${t} t using (select id, 1 as label from range(0, 1000, 7)) s on t.id = s.id
  when matched then update set label = s.label;
merge into ${t} t using (select id, 2 as label from range(1, 1000, 7)) s on t.id = s.id
  when matched then update set label = s.label;
merge into ${t} t using (select id, 3 as label from range(2, 1000, 7)) s on t.id = s.id
  when matched then update set label = s.label;
merge into ${t} t using (select id, 4 as label from range(0, 1000, 14)) s on t.id = s.id
  when matched then update set label = s.label;
merge into ${t} t using (select id from range(3, 1000, 7)) s on t.id = s.id
  when matched then delete;
merge into ${t} t using (select id from range(4, 1000, 7)) s on t.id = s.id
  when matched then update set payload = 'y';

-- 143 numbers below 1000 have the rest 0 to 5 by 7, and 142 the rest 6.
select label, count(*) from ${t} group by label order by label;
-- expect
--   0 | 428
--   1 | 71
--   2 | 143
--   3 | 143
--   4 | 72
select count(*), sum(length(payload)) from ${t};
-- expect
--   857 | 71543
select shards, records, deleted from ${t}.partitions;
-- expect
--   1 | 857 | 143
select kind, count(*) from ${t}.files where kind = 'patch' group by kind;
-- expect
--   patch | 1
