-- Elsewhere: tables that a catalog manages cannot be optimized, replaced or reached by their paths.
-- Here one table has all of that, however it is named.
-- file spark >= 4.0

create table ${t} using zrecord as select /*+ coalesce(1) */ id from range(10);
insert into ${t} select /*+ coalesce(1) */ id from range(10, 20);
call ${catalog}.system.rebalance('${t:argument}');
select count(*) from ${t}.shards;
-- expect
--   1
call ${catalog}.system.verify('${t:argument}');
-- expect words
--   true
-- What is younger than an hour may be needed by somebody.
call ${catalog}.system.expire('${t:argument}', older_than => '0m');
-- error IllegalArgumentException
--   give PT1H or more
call ${catalog}.system.expire('${t:argument}', older_than => '1h', keep_versions => 1);
-- expect
--   false | * | * | 0
call ${catalog}.system.sweep('${t:argument}');
-- expect
--   true | * | * | * | *
select count(*), sum(id) from ${t};
-- expect
--   20 | 190
select count(*) from ${t} version as of 0;
-- expect
--   10
create or replace table ${t} using zrecord as select id, 'new' as what from ${t} where id > 17;
select * from ${t} order by id;
-- expect
--   18 | new
--   19 | new
