-- Elsewhere: a deletion by the address of a row touches every fragment. Here a deletion by _index
-- needs no value, and touches one shard.

create table ${t} (id bigint) using zrecord;
insert into ${t} select /*+ coalesce(1) */ id from range(100);
insert into ${t} select /*+ coalesce(1) */ id from range(100, 200);
insert into ${t} select /*+ coalesce(1) */ id from range(200, 300);
delete from ${t} where _index in (150, 151) or _index = 199;
select ordinal, records, deleted from ${t}.shards order by ordinal;
-- expect
--   0 | 100 | 0
--   1 | 97 | 3
--   2 | 100 | 0
select count(*), sum(id) from ${t};
-- expect
--   297 | 44350
select _index, id from ${t} where _index in (149, 150, 196, 197) order by _index;
-- expect
--   149 | 149
--   150 | 152
--   196 | 198
--   197 | 200
delete from ${t} where _index >= 297;
select count(*) from ${t};
-- expect
--   297
