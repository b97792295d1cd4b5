-- Statements that mix features: nested keys, wide decimals, correlated subqueries, variables,
-- samples.

create table ${t} (
  a int, p string, b double, d decimal(38, 18), m map<struct<x: int>, array<string>>
) using zrecord partitioned by (p);
insert into ${t} values
  (1, 'x', 1.5, 12345678901234567890.123456789012345678, map(named_struct('x', 1), array('q'))),
  (2, 'y', null, -0.000000000000000001, null), (3, null, double('NaN'), null, map());
select a, d, string(m) from ${t} order by a;
-- expect
--   1 | 12345678901234567890.123456789012345678 | {{1} -> [q]}
--   2 | -0.000000000000000001 | NULL
--   3 | NULL | {}
insert overwrite ${t} by name select p, a + 10 as a, b, d, m from ${t};
select a, p from ${t} order by a;
-- expect
--   11 | x
--   12 | y
--   13 | NULL
update ${t} set b = (select max(a) from ${t} s where s.p = nosuch.p) where a = 11;
-- error AnalysisException
update ${t} t set b = (select max(a) from ${t} s where s.p = t.p) where a = 11;
select b from ${t} where a = 11;
-- expect
--   11.0
merge into ${t} t using (select _index as i, a from ${t}) s on t._index = s.i
  when matched and s.a = 12 then update set b = 5;
select b from ${t} where a = 12;
-- expect
--   5.0
select p, count(*) c, sum(a) from ${t} group by all order by all;
-- expect
--   NULL | 1 | 13
--   x | 1 | 11
--   y | 1 | 12
explain select * from ${t} where p = 'x' and a > 1;
-- expect words
--   BatchScan
create or replace temporary view v as select * from ${t} where a > 11;
delete from ${t} where a in (select a from v) and p is null;
select count(*) from ${t};
-- expect
--   2
drop view v;
-- if in named session and spark >= 4.0
show table extended in ${namespace} like 't';
-- expect words
--   zrecord
-- if spark >= 4.0
from ${t} |> where a > 11 |> select a, b |> order by a;
-- expect
--   12 | 5.0
-- if spark >= 4.0
declare or replace variable x int = 11;
-- if spark >= 4.0
execute immediate 'select p from ${t} where a = ?' using x;
-- expect
--   x
-- if spark >= 4.0
delete from ${t} where a = x;
-- if spark >= 4.0
select a from ${t};
-- expect
--   12
-- if spark >= 4.2
select count(*) from ${t} tablesample system (100 percent);
-- expect
--   1
insert into ${t} (a, _index) values (1, 2);
-- error AnalysisException
-- A default may be an expression.
create table ${d} (a int default (1 + 1), b string default concat('a', 'b'), c int default null)
  using zrecord;
insert into ${d} values (default, default, default);
select * from ${d};
-- expect
--   2 | ab | NULL
-- if spark >= 4.1
create table ${time} (t time) using zrecord;
-- error AnalysisException
create table ${c} using zrecord as
  select cast('a' as char(3)) as c, cast('b' as varchar(4)) as v;
select count(*) from ${c};
-- expect
--   1
create table ${big} using zrecord as
  select id, array(id, id + 1) as pair, named_struct('a', id, 'b', string(id)) as s
  from range(10000);
select count(*), sum(pair[1]), sum(s.a), max(s.b) from ${big}
  where s.a % 2 = 0 or pair[0] < 10;
-- expect
--   5005 | 25000030 | 24995025 | 9998
delete from ${big} where s.a % 3 = 0;
select count(*) from ${big};
-- expect
--   6666
update ${big} set s = named_struct('a', -1L, 'b', null) where pair[0] = 1;
select s.a, s.b, pair[0] from ${big} where s.a = -1;
-- expect
--   -1 | NULL | 1
select count(*) from ${big} a join ${big} b on a.s.a = b.pair[0];
-- expect
--   6665
create table ${u} using zrecord as select 1 as id union all select 2 union all select null;
select id, count(*) over () from ${u} order by id nulls last;
-- expect
--   1 | 3
--   2 | 3
--   NULL | 3
insert into ${u} select s.id from (select 7 as id, 8 as x) s;
select max(id) from ${u};
-- expect
--   7
merge into ${u} u using (select 7 as id, 70 as v) s on u.id = s.id
  when matched then update set id = s.v
  when not matched by source and u.id is null then update set id = 0
  when not matched by source then delete;
select id from ${u} order by id;
-- expect
--   0
--   70
select * from ${u} where id = 70 and _index >= 0 order by id;
-- expect
--   70
