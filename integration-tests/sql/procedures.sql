-- CALL, which Spark has since 4.0. A call names the catalog whose procedures it runs, and the
-- table.
-- file spark >= 4.0

create table ${t} using zrecord as select /*+ coalesce(1) */ id, 0 as label from range(100);
insert into ${t} select /*+ coalesce(1) */ id, 1 from range(100, 200);
update ${t} set label = 2 where id < 10;
delete from ${t} where id >= 190;

call ${catalog}.system.tag('${t:argument}', 'raw', 0);
-- expect
--   raw | 0
select count(*) from ${t} version as of 'raw';
-- expect
--   100
select name, version from ${t}.tags;
-- expect
--   raw | 0
call ${catalog}.system.tag(table => '${t:argument}', name => 'raw');
-- error ZRECORD_COMMIT_CONFLICT
--   the name is taken by version 0

select * from ${t}.versions where operation = 'nothing';
-- expect no rows
call ${catalog}.system.rebalance('${t:argument}', all_shards => true);
-- expect words
--   false
select count(*), sum(id), sum(label) from ${t};
-- expect
--   190 | 17955 | 110
select count(*) from ${t}.shards;
-- expect
--   1
call ${catalog}.system.relayout('${t:argument}', order_by => 'id', descending => true);
-- expect
--   * | 190 | 1 | 1 | * | *
select _index, id from ${t} where _index < 2 order by _index;
-- expect
--   0 | 189
--   1 | 188
call ${catalog}.system.untag('${t:argument}', 'raw');
-- expect
--   raw | 0
select count(*) from ${t} version as of 'raw';
-- error TABLE_OR_VIEW_NOT_FOUND

call ${catalog}.system.nothing('${t:argument}');
-- error IllegalArgumentException
--   has no procedure 'nothing'
call ${catalog}.system.sweep('${t:argument}', nothing => 1);
-- error UNRECOGNIZED_PARAMETER_NAME
call ${catalog}.system.sweep();
-- error REQUIRED_PARAMETER_NOT_FOUND
call ${catalog}.system.sweep('${t:argument}', older_than => 'soon');
-- error IllegalArgumentException
--   soon
call ${catalog}.system.expire('no_such_table');
-- error IllegalArgumentException
--   no_such_table
