-- Queries: what is pushed into a scan has the answers of a scan.

create table ${t} (id bigint, label int, name string) using zrecord;
insert into ${t} select /*+ coalesce(1) */ id, cast(id % 4 as int), concat('n', id % 10)
  from range(50);
insert into ${t} select /*+ coalesce(1) */ id, null, null from range(50, 60);

select count(*), count(label), count(distinct label), min(id), max(id) from ${t};
-- expect
--   60 | 50 | 4 | 0 | 59
select count(*) from ${t} where label = 3;
-- expect
--   12
select label, count(*) from ${t} group by label having count(*) > 12 order by label;
-- expect
--   0 | 13
--   1 | 13
select count(*) from ${t} limit 5;
-- expect
--   60
select count(*) from (select * from ${t} limit 7);
-- expect
--   7
select id from ${t} order by id limit 2 offset 58;
-- expect
--   58
--   59
select count(*) from (select * from ${t} limit 10 offset 55);
-- expect
--   5
select count(*) from (select * from ${t} where id >= 55 limit 10 offset 3);
-- expect
--   2
select id from ${t} order by id desc limit 1;
-- expect
--   59
select count(*) between 0 and 60 from ${t} tablesample (50 percent) repeatable (7);
-- expect
--   true
select (select count(*) from ${t} tablesample (50 percent) repeatable (7)) =
  (select count(*) from ${t} tablesample (50 percent) repeatable (7)) as same;
-- expect
--   true
select count(*) from ${t} tablesample (100 percent);
-- expect
--   60
select count(*) from ${t} tablesample (5 rows);
-- expect
--   5
select count(*) from ${t} a join ${t} b on a.id = b.id + 1 where a.label = b.label + 1;
-- expect
--   37
select count(*) from ${t} a left join ${t} b on a.id = b.id + 50 and b.id < 5 where b.id is not null;
-- expect
--   5
select count(*) from ${t} where id in (select id + 55 from ${t}) and name is null;
-- expect
--   5
select count(*) from ${t} a where not exists (select 1 from ${t} b where b.id = a.id + 1);
-- expect
--   1
select id from ${t} where name like 'n9%' and id < 20 order by id;
-- expect
--   9
--   19
select id from ${t} where name is null and id <> 50 and id < 53 union select -1 order by 1;
-- expect
--   -1
--   51
--   52
select id, sum(label) over (order by id rows between 1 preceding and current row) as s
  from ${t} where id < 4 order by id;
-- expect
--   0 | 0
--   1 | 1
--   2 | 3
--   3 | 5
select label, name, count(*) from ${t} where id < 4
  group by grouping sets ((label), (name), ()) order by label nulls first, name nulls first;
-- expect
--   NULL | NULL | 4
--   NULL | n0 | 1
--   NULL | n1 | 1
--   NULL | n2 | 1
--   NULL | n3 | 1
--   0 | NULL | 1
--   1 | NULL | 1
--   2 | NULL | 1
--   3 | NULL | 1
select * from (select id, label from ${t} where id < 8) pivot (count(id) for label in (0, 1)) ;
-- expect
--   2 | 2
with recent as (select * from ${t} where id > 57) select count(*), max(r.id) from recent r, recent q;
-- expect
--   4 | 59
select count(*) from ${t} where cast(null as boolean);
-- expect
--   0
select count(1), count('x'), count(null), sum(1) from ${t};
-- expect
--   60 | 60 | 0 | 60
select 1 from ${t} where id < 2;
-- expect
--   1
--   1
select max(struct(id, label)).id from ${t} where label = 1;
-- expect
--   49
