-- CREATE TABLE AS SELECT, REPLACE TABLE AS SELECT.

create table ${t} using zrecord comment 'made of a query' as
  select id, cast(id * 2 as int) as twice, string(id) as name from range(5);
select * from ${t} order by id;
-- expect
--   0 | 0 | 0
--   1 | 2 | 1
--   2 | 4 | 2
--   3 | 6 | 3
--   4 | 8 | 4
describe table extended ${t};
-- expect among others
--   twice | int | NULL
--   Comment | made of a query |

create table ${t} using zrecord as select 1 as id;
-- error TABLE_OR_VIEW_ALREADY_EXISTS
create table if not exists ${t} using zrecord as select 1 as id;
select count(*) from ${t};
-- expect
--   5

-- A query without rows makes a table with its columns.
create table ${empty} using zrecord as select id, name from ${t} where false;
select count(*) from ${empty};
-- expect
--   0
describe table ${empty};
-- expect
--   id | bigint | NULL
--   name | string | NULL

-- A table is replaced by what is read from the table itself.
create or replace table ${t} using zrecord as select id + 10 as id from ${t} where id > 2;
select * from ${t} order by id;
-- expect
--   13
--   14
replace table ${t} using zrecord as select id, 'again' as why from ${t};
select * from ${t} order by id;
-- expect
--   13 | again
--   14 | again

-- A query that fails leaves what was there.
create or replace table ${t} using zrecord as select id, string(raise_error('no')) as why from ${t};
-- error USER_RAISED_EXCEPTION if spark >= 4.0
-- error RuntimeException
select * from ${t} order by id;
-- expect
--   13 | again
--   14 | again
create table ${failed} using zrecord as select id, string(raise_error('no')) as why from ${t};
-- error USER_RAISED_EXCEPTION if spark >= 4.0
-- error RuntimeException
select * from ${failed};
-- error TABLE_OR_VIEW_NOT_FOUND if not in path
-- error PATH_NOT_FOUND

-- The version before is there, whatever replaced the table.
select id from ${t} version as of 0 order by id;
-- expect
--   0
--   1
--   2
--   3
--   4

-- Columns need names, each of its own.
create table ${unnamed} using zrecord as select 1, 2;
select * from ${unnamed};
-- expect
--   1 | 2
create table ${double} using zrecord as select 1 as a, 2 as a;
-- error COLUMN_ALREADY_EXISTS
create table ${columns} (id bigint) using zrecord as select 1 as id;
-- error ParseException

-- Partitions.
create table ${parts} using zrecord partitioned by (label) as
  select id, cast(id % 2 as int) as label from range(6);
select label, count(*), sum(id) from ${parts} group by label order by label;
-- expect
--   0 | 3 | 6
--   1 | 3 | 9
select partition.label, records from ${parts}.partitions order by 1;
-- expect
--   0 | 3
--   1 | 3
