-- INSERT OVERWRITE, static and dynamic, and REPLACE WHERE.

create table ${t} (id bigint, label int) using zrecord;
insert into ${t} values (1, 10), (2, 20);
insert overwrite ${t} values (3, 30);
select * from ${t};
-- expect
--   3 | 30
insert overwrite table ${t} select id + 1, label from ${t};
select * from ${t};
-- expect
--   4 | 30
insert overwrite ${t} (label, id) values (50, 5);
select * from ${t};
-- expect
--   5 | 50
insert overwrite ${t} select * from ${t} where false;
select count(*) from ${t};
-- expect
--   0

create table ${p} (id bigint, day string, country string) using zrecord
  partitioned by (day, country);
insert into ${p} values
  (1, 'mon', 'de'), (2, 'mon', 'fr'), (3, 'tue', 'de'), (4, 'wed', null);

-- Static: the partitions that the statement names.
insert overwrite ${p} partition (day = 'mon', country = 'de') select 5;
select * from ${p} order by id;
-- expect
--   2 | mon | fr
--   3 | tue | de
--   4 | wed | NULL
--   5 | mon | de
insert overwrite ${p} partition (day = 'mon', country) select 6, 'at';
select * from ${p} order by id;
-- expect
--   3 | tue | de
--   4 | wed | NULL
--   6 | mon | at
insert overwrite ${p} partition (day = 'wed', country = null) select 7;
select * from ${p} order by id;
-- expect
--   3 | tue | de
--   6 | mon | at
--   7 | wed | NULL
-- Also without rows.
insert overwrite ${p} partition (day = 'tue', country = 'de') select 8 where false;
select id from ${p} order by id;
-- expect
--   6
--   7

-- Dynamic: the partitions of the rows.
set spark.sql.sources.partitionOverwriteMode = dynamic;
insert into ${p} values (9, 'mon', 'de');
insert overwrite ${p} values (10, 'mon', 'at'), (11, 'sun', 'de');
select * from ${p} order by id;
-- expect
--   7 | wed | NULL
--   9 | mon | de
--   10 | mon | at
--   11 | sun | de
insert overwrite ${p} partition (day = 'mon', country) select 12, 'de';
select * from ${p} order by id;
-- expect
--   7 | wed | NULL
--   10 | mon | at
--   11 | sun | de
--   12 | mon | de
insert overwrite ${p} select * from ${p} where false;
select count(*) from ${p};
-- expect
--   4
insert overwrite ${p} values (13, 'wed', null);
select id from ${p} where day = 'wed';
-- expect
--   13
reset spark.sql.sources.partitionOverwriteMode;

insert overwrite ${p} values (14, 'mon', 'de');
select id from ${p};
-- expect
--   14

-- REPLACE WHERE.
insert into ${p} values (15, 'tue', 'de'), (16, 'tue', 'fr');
insert into ${p} replace where day = 'tue' select 17, 'tue', 'de';
select id from ${p} order by id;
-- expect
--   14
--   17
insert into ${p} replace where day > 'a' and country = 'de' values (18, 'fri', 'de');
select id from ${p} order by id;
-- expect
--   18
insert into ${p} replace where id = 18 values (19, 'fri', 'de');
select id from ${p};
-- expect
--   19

insert overwrite ${p} partition (day = 'x') if not exists select 1, 'de';
-- error AnalysisException
