-- Elsewhere: rows are lost, or old values found, where a column was changed apart from the others.
-- Here conditions on a changed column find the values of now, in each version.

create table ${t} using zrecord as
  select /*+ coalesce(1) */ id, cast(id as int) as label, concat('n', id) as name,
    cast(repeat('x', 100) as binary) as big
  from range(1000);
update ${t} set label = -1 where id between 100 and 199;
update ${t} set name = concat('m', id) where id % 2 = 0;
alter table ${t} add column score int default 3;
update ${t} set score = label where id < 10;

select count(*) from ${t} where label between 100 and 199;
-- expect
--   0
select count(*) from ${t} where label = -1;
-- expect
--   100
select count(*), count(distinct name) from ${t} where name like 'm1%' and label > 0;
-- expect
--   5 | 5
select count(*) from ${t} where label > 900 and name > 'n';
-- expect
--   50
select count(*) from ${t} where score <> 3;
-- expect
--   9
select min(label), max(label), min(name), max(score) from ${t};
-- expect
--   -1 | 999 | m0 | 9
select count(*), sum(length(big)) from ${t} where label = -1 or name = 'm0';
-- expect
--   101 | 10100
select count(*) from ${t} version as of 0 where label between 100 and 199;
-- expect
--   100
-- if spark >= 4.0
call ${catalog}.system.rebalance('${t:argument}', all_shards => true);
select count(*) from ${t} where label = -1 and name like 'm%';
-- expect
--   50
-- All values of a column at once.
update ${t} set label = label + 1;
select count(*), sum(label) from ${t} where label > 500;
-- expect
--   500 | 375250
