-- Views over tables: temporary ones, and those of the session's catalog.

create table ${t} using zrecord as
  select * from values (1L, 10), (2L, 20), (3L, 30) as x(id, label);

create or replace temporary view big as select id, label * 2 as twice from ${t} where label >= 20;
select * from big order by id;
-- expect
--   2 | 40
--   3 | 60
insert into ${t} values (4, 40);
delete from ${t} where id = 2;
-- The view is its text.
select * from big order by id;
-- expect
--   3 | 60
--   4 | 80
create or replace temporary view old as select * from ${t} version as of 0;
select count(*) from old;
-- expect
--   3
create table ${copy} using zrecord as select * from old;
select id from ${copy} order by id;
-- expect
--   1
--   2
--   3
insert into big values (1, 2);
-- error AnalysisException
drop view big;
drop view old;

-- if in session
create view ${v} as select id from ${t} where label > 10;
-- if in session
select * from ${v} order by id;
-- expect
--   3
--   4
-- if in named path
create view spark_catalog.default.v_${space} as select id from ${t} where label > 10;
-- if in named path
select * from spark_catalog.default.v_${space} order by id;
-- expect
--   3
--   4
-- if in named path
drop view spark_catalog.default.v_${space};
create view lake.${space}_v as select 1 as a;
-- error AnalysisException if spark < 4.1
--   does not support views
-- error MISSING_CATALOG_ABILITY.VIEWS

-- A cached table shows what is committed.
cache table ${t};
select count(*) from ${t};
-- expect
--   3
insert into ${t} values (7, 70);
select count(*) from ${t};
-- expect
--   4
uncache table ${t};
