-- DEFAULT values of columns.

create table ${t} (id bigint, label int default 7, name string default 'none') using zrecord;
insert into ${t} values (1, default, default), (2, 20, default);
insert into ${t} (id, name, label) values (3, 'c', default);
select * from ${t} order by id;
-- expect
--   1 | 7 | none
--   2 | 20 | none
--   3 | 7 | c

-- if spark >= 4.1
insert into ${t} (id) values (4);
-- if spark < 4.1
insert into ${t} values (4, default, default);
select * from ${t} where id = 4;
-- expect
--   4 | 7 | none

-- A default of later records, and one of all records.
alter table ${t} alter column label set default 8;
insert into ${t} values (5, default, default);
select id, label from ${t} where id >= 4 order by id;
-- expect
--   4 | 7
--   5 | 8
alter table ${t} add column stage string default 'raw';
select distinct stage from ${t};
-- expect
--   raw
insert into ${t} values (6, 1, 'f', default);
select stage from ${t} where id = 6;
-- expect
--   raw
alter table ${t} alter column stage set default 'clean';
insert into ${t} values (7, 1, 'g', default);
select id, stage from ${t} where id >= 6 order by id;
-- expect
--   6 | raw
--   7 | clean
alter table ${t} alter column label drop default;
insert into ${t} values (8, default, 'h', 'x');
select label from ${t} where id = 8;
-- expect
--   NULL

update ${t} set name = default, stage = default where id = 8;
select name, stage from ${t} where id = 8;
-- expect
--   none | clean
merge into ${t} t using (select 9 as id) s on t.id = s.id
  when not matched then insert (id, label, name, stage) values (s.id, default, default, default);
select * from ${t} where id = 9;
-- expect
--   9 | NULL | none | clean

-- Defaults of each type.
create table ${types} (
  id bigint,
  b boolean default true,
  d double default 1.5,
  n decimal(6, 2) default 12.34,
  day date default date'2026-11-01',
  at timestamp default timestamp'2026-11-01 12:00:00',
  bytes binary default X'0102'
) using zrecord;
insert into ${types} values (1, default, default, default, default, default, default);
select id, b, d, n, day, at, hex(bytes) from ${types};
-- expect
--   1 | true | 1.5 | 12.34 | 2026-11-01 | 2026-11-01 12:00:00 | 0102

create table ${bad} (id int default 'seven') using zrecord;
-- error INVALID_DEFAULT_VALUE.DATA_TYPE
create table ${bad} (id int default (select 1)) using zrecord;
-- error INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION
create table ${bad} (x double default rand()) using zrecord;
-- error AnalysisException

-- An expression is evaluated by each statement.
create table ${days} (id int, day date default current_date(), n int default 1 + 1) using zrecord;
insert into ${days} values (1, default, default), (2, null, 5);
select id, day = current_date(), n from ${days} order by id;
-- expect
--   1 | true | 2
--   2 | NULL | 5
update ${days} set day = default, n = default where id = 2;
select count(*) from ${days} where day = current_date() and n = 2;
-- expect
--   2
