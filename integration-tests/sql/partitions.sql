-- Partitioned tables: identity of columns, conditions, overwrites, and what partitions say.

create table ${t} (id bigint, day date, country string) using zrecord partitioned by (day, country);
insert into ${t} values
  (1, date'2026-11-01', 'de'), (2, date'2026-11-01', 'fr'), (3, date'2026-11-02', 'de'),
  (4, date'2026-11-02', null), (5, null, 'de');
insert into ${t} partition (day = '2026-11-03', country = 'at') select id from range(10, 12);
insert into ${t} partition (day = '2026-11-03', country) values (12, 'de');

select day, country, count(*) from ${t} group by day, country order by day, country;
-- expect
--   NULL | de | 1
--   2026-11-01 | de | 1
--   2026-11-01 | fr | 1
--   2026-11-02 | NULL | 1
--   2026-11-02 | de | 1
--   2026-11-03 | at | 2
--   2026-11-03 | de | 1
select id from ${t} where day = '2026-11-01' and country in ('de', 'at') order by id;
-- expect
--   1
select id from ${t} where day is null or country is null order by id;
-- expect
--   4
--   5
select id from ${t} where day > date'2026-11-01' and not country = 'de' order by id;
-- expect
--   10
--   11
select count(*) from ${t} where year(day) = 2026 and upper(country) like 'D%';
-- expect
--   3
select count(*) from ${t} where country <=> null;
-- expect
--   1
select id from ${t} where day = '2026-11-03' or id = 2 order by id;
-- expect
--   2
--   10
--   11
--   12

describe table ${t};
-- expect among others
--   # Partition Information | |
--   # col_name | data_type | comment
select partition.day, partition.country, records, shards from ${t}.partitions order by 1, 2;
-- expect
--   NULL | de | 1 | 1
--   2026-11-01 | de | 1 | 1
--   2026-11-01 | fr | 1 | 1
--   2026-11-02 | NULL | 1 | 1
--   2026-11-02 | de | 1 | 1
--   2026-11-03 | at | 2 | 1
--   2026-11-03 | de | 1 | 1

-- A record that gets another value moves.
update ${t} set country = 'ch' where id = 1;
delete from ${t} where day = '2026-11-02';
delete from ${t} where country = 'at' and id = 10;
select id, day, country from ${t} order by id;
-- expect
--   1 | 2026-11-01 | ch
--   2 | 2026-11-01 | fr
--   5 | NULL | de
--   11 | 2026-11-03 | at
--   12 | 2026-11-03 | de
merge into ${t} t using (select 11 as id, 'be' as country) s on t.id = s.id
  when matched then update set country = s.country
  when not matched then insert (id, day, country) values (s.id, null, s.country);
select id from ${t} where country = 'be';
-- expect
--   11

-- Only identity is a partition.
create table ${days} (at timestamp) using zrecord partitioned by (days(at));
-- error UnsupportedOperationException
--   days
create table ${buckets} (id bigint) using zrecord partitioned by (bucket(4, id));
-- error UnsupportedOperationException
--   bucket
create table ${floats} (f float) using zrecord partitioned by (f);
-- error INCOMPATIBLE_DATA_FOR_TABLE
create table ${missing} (id bigint) using zrecord partitioned by (nothing);
-- error AnalysisException
alter table ${t} drop column day;
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   partitioned by it
alter table ${t} rename column country to land;
select id from ${t} where land = 'be';
-- expect
--   11

-- Spark has no statement for partitions of a table whose catalog does not manage them.
show partitions ${t};
-- error INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED
alter table ${t} drop partition (day = '2026-11-01');
-- error INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED
truncate table ${t} partition (day = '2026-11-01');
-- error INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED
