-- Elsewhere: rows that were deleted come back after a compaction, or rows that are live go. Here a
-- rebalance between and after changes keeps every record as it is.

create table ${t} using zrecord as
  select /*+ coalesce(1) */ id, 0 as label, string(id) as name from range(100);
insert into ${t} select /*+ coalesce(1) */ id, 0, string(id) from range(100, 200);
delete from ${t} where id % 10 = 0;
update ${t} set label = 1 where id % 10 = 1;
-- if spark >= 4.0
call ${catalog}.system.rebalance('${t:argument}', all_shards => true);
select count(*), sum(id), sum(label) from ${t};
-- expect
--   180 | 18000 | 20
delete from ${t} where id % 10 = 2;
merge into ${t} t using (select id from range(0, 200, 10)) s on t.id = s.id
  when matched then update set label = 99
  when not matched and s.id < 50 then insert (id, label, name) values (s.id, 5, 'again');
-- if spark >= 4.0
call ${catalog}.system.rebalance('${t:argument}', all_shards => true);
update ${t} set name = 'z' where label = 5;
select count(*), sum(id), sum(label), count(distinct id) from ${t};
-- expect
--   165 | 16160 | 45 | 165
select id, name from ${t} where label = 5 order by id;
-- expect
--   0 | z
--   10 | z
--   20 | z
--   30 | z
--   40 | z
select count(*) from ${t} where id % 10 in (0, 2) and id >= 50;
-- expect
--   0
-- The version before the rebalances is as it was.
select count(*), sum(id) from ${t} version as of 1;
-- expect
--   200 | 19900
