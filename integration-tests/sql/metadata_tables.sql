-- What a table is made of, and what was done to it.

create table ${t} using zrecord as
  select /*+ coalesce(1) */ id, cast(id % 3 as int) as label from range(10);
update ${t} set label = 9 where id = 1;
delete from ${t} where id >= 8;

select version, operation, records, added_records, removed_records from ${t}.versions
  order by version;
-- expect
--   0 | create | 10 | 10 | 0
--   1 | update | 10 | 0 | 0
--   2 | delete | 8 | 0 | 2
select count(*) from ${t}.tags;
-- expect
--   0
select position, name, type, column_type, compression, nullable, comment from ${t}.fields
  order by position;
-- expect
--   0 | id | i64 | bigint | raw | true | NULL
--   1 | label | i32 | int | raw | true | NULL
select records, deleted, shards from ${t}.partitions;
-- expect
--   8 | 2 | 1
select ordinal, first_index, records, deleted, patch is not null from ${t}.shards;
-- expect
--   0 | 0 | 8 | 2 | true
select sum(records) from ${t}.shards version as of 0;
-- expect
--   10
select kind, count(*) > 0, sum(bytes) > 0 from ${t}.files group by kind order by kind;
-- expect
--   chunk | true | true
--   manifest | true | true
--   patch | true | true
--   tables | true | true
select count(distinct shard), bool_and(bytes = live_bytes + dead_bytes + padding_bytes)
  from ${t}.chunks;
-- expect
--   1 | true
select records from ${t}.shard_usage;
-- expect
--   8
select field, records from ${t}.field_usage order by field;
-- expect
--   id | 8
--   label | 8

-- With conditions, joins and other tables.
select v.version from ${t}.versions v join ${t}.versions p on v.parent = p.version
  where p.operation = 'update';
-- expect
--   2

select * from ${t}.versions version as of 1;
-- error IllegalArgumentException
select * from ${t}.nothing;
-- error REQUIRES_SINGLE_PART_NAMESPACE if in session
-- error TABLE_OR_VIEW_NOT_FOUND
delete from ${t}.versions;
-- error UnsupportedOperationException
insert into ${t}.tags values ('x', 1, null);
-- error UnsupportedOperationException
