-- Versions, times and tags.

create table ${t} using zrecord as select 1L as id, 10 as label;
insert into ${t} values (2, 20);
update ${t} set label = 11 where id = 1;
delete from ${t} where id = 2;

select id, label from ${t} version as of 0;
-- expect
--   1 | 10
select id, label from ${t} version as of 1 order by id;
-- expect
--   1 | 10
--   2 | 20
select id, label from ${t} for version as of 2 order by id;
-- expect
--   1 | 11
--   2 | 20
select id, label from ${t} for system_version as of 3;
-- expect
--   1 | 11
select id, label from ${t};
-- expect
--   1 | 11

-- The version is of the table that it stands at.
select a.label, b.label from ${t} version as of 0 a join ${t} version as of 3 b on a.id = b.id;
-- expect
--   10 | 11
select id from ${t} version as of 1 except select id from ${t};
-- expect
--   2

select * from ${t} version as of 4;
-- error TABLE_OR_VIEW_NOT_FOUND
--   versions are 0
select * from ${t} version as of 'nothing';
-- error TABLE_OR_VIEW_NOT_FOUND
--   has no tags

-- Times.
select id, label from ${t} timestamp as of current_timestamp();
-- error AnalysisException if spark < 4.0 and in path
-- expect
--   1 | 11
select * from ${t} timestamp as of '2001-01-01';
-- error TABLE_OR_VIEW_NOT_FOUND
select id, label from ${t} timestamp as of '2999-01-01';
-- expect
--   1 | 11
select * from ${t} timestamp as of 'never';
-- error INVALID_TIME_TRAVEL_TIMESTAMP_EXPR

-- An older version comes again, if the statement says what it replaces.
insert overwrite ${t} select * from ${t} version as of 1;
-- error ZRECORD_COMMIT_CONFLICT
--   its query reads version 1, but version 3 is the newest
set spark.datasource.zrecord.expectedVersion = 3;
insert overwrite ${t} select * from ${t} version as of 1;
reset spark.datasource.zrecord.expectedVersion;
select id, label from ${t} order by id;
-- expect
--   1 | 10
--   2 | 20
merge into ${t} t using (select * from ${t} version as of 2) old on t.id = old.id
  when matched and t.label <> old.label then update set label = old.label;
select id, label from ${t} order by id;
-- expect
--   1 | 11
--   2 | 20

-- A version has the columns that it had.
alter table ${t} add column more string;
alter table ${t} rename column label to class;
select * from ${t} version as of 0;
-- expect
--   1 | 10
select label from ${t} version as of 0;
-- expect
--   10
select * from ${t} order by id;
-- expect
--   1 | 11 | NULL
--   2 | 20 | NULL

-- Older versions are not written.
delete from ${t} version as of 1;
-- error PARSE_SYNTAX_ERROR
insert into ${t} version as of 1 values (1, 1);
-- error PARSE_SYNTAX_ERROR
