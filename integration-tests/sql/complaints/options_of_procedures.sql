-- Elsewhere: a procedure ignores the options that it is called with. Here an argument has its
-- effect, or is refused.
-- file spark >= 4.0

create table ${t} (id bigint, name string) using zrecord;
insert into ${t} select /*+ coalesce(1) */ id, repeat('same', 100) from range(1000);
insert into ${t} select /*+ coalesce(1) */ id, repeat('same', 100) from range(1000, 2000);
select name, compression from ${t}.fields order by position;
-- expect
--   id | raw
--   name | raw
call ${catalog}.system.rebalance('${t:argument}', dry_run => true);
select count(*) from ${t}.shards;
-- expect
--   2
call ${catalog}.system.rebalance('${t:argument}', compression => map('name', 'zstd'));
select count(*), sum(bytes) < 100000 from ${t}.shards;
-- expect
--   1 | true
call ${catalog}.system.rebalance('${t:argument}', compression => map('nothing', 'zstd'));
-- error IllegalArgumentException
--   nothing
call ${catalog}.system.rebalance('${t:argument}', target_file_size => 1000);
-- error UNRECOGNIZED_PARAMETER_NAME
call ${catalog}.system.rebalance('${t:argument}', max_bytes => -1);
-- error IllegalArgumentException
call ${catalog}.system.expire('${t:argument}', keep_versions => 0);
-- error IllegalArgumentException
select count(*), sum(length(name)) from ${t};
-- expect
--   2000 | 800000
