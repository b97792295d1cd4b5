-- ALTER TABLE for columns.

create table ${t} using zrecord as select * from values (1L, 10), (2L, 20) as x(id, label);

alter table ${t} add column name string comment 'of the photo' after id;
alter table ${t} add columns (score float, flag boolean first);
describe table ${t};
-- expect
--   flag | boolean | NULL
--   id | bigint | NULL
--   name | string | of the photo
--   label | int | NULL
--   score | float | NULL
insert into ${t} values (true, 3, 'c', 30, 0.5);
select * from ${t} order by id;
-- expect
--   NULL | 1 | NULL | 10 | NULL
--   NULL | 2 | NULL | 20 | NULL
--   true | 3 | c | 30 | 0.5

alter table ${t} rename column label to class;
select class from ${t} where class >= 20 order by id;
-- expect
--   20
--   30
select label from ${t};
-- error UNRESOLVED_COLUMN

alter table ${t} alter column class type bigint;
insert into ${t} values (false, 4, 'd', 5000000000, 1.5);
select id, class from ${t} order by class;
-- expect
--   1 | 10
--   2 | 20
--   3 | 30
--   4 | 5000000000
alter table ${t} alter column score type double;
select score from ${t} where id = 3;
-- expect
--   0.5

alter table ${t} alter column class comment 'what it shows';
alter table ${t} alter column flag after score;
alter table ${t} alter column id first;
describe table ${t};
-- expect
--   id | bigint | NULL
--   name | string | of the photo
--   class | bigint | what it shows
--   score | double | NULL
--   flag | boolean | NULL

alter table ${t} drop column name;
alter table ${t} drop columns (score, flag);
alter table ${t} drop column if exists name;
select * from ${t} order by id;
-- expect
--   1 | 10
--   2 | 20
--   3 | 30
--   4 | 5000000000

-- A column of an old name is a new column.
alter table ${t} add column name string;
select id, name from ${t} order by id;
-- expect
--   1 | NULL
--   2 | NULL
--   3 | NULL
--   4 | NULL

-- What a new version says is not said of older ones.
select label from ${t} version as of 0 order by 1;
-- expect
--   10
--   20

alter table ${t} add column id int;
-- error FIELD_ALREADY_EXISTS if spark >= 4.0
-- error FIELDS_ALREADY_EXISTS
alter table ${t} drop column missing;
-- error AnalysisException if spark < 4.0
--   Missing field missing
-- error UNRESOLVED_COLUMN
alter table ${t} rename column class to id;
-- error FIELD_ALREADY_EXISTS if spark >= 4.0
-- error FIELDS_ALREADY_EXISTS
alter table ${t} alter column class type int;
-- error NOT_SUPPORTED_CHANGE_COLUMN
alter table ${t} alter column class type string;
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   add a field of that type
alter table ${t} alter column class set not null;
-- error AnalysisException
--   nullable column to non-nullable
alter table ${t} add column needed int not null;
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   no initial default
alter table ${t} replace columns (id bigint, other string);
-- error UnsupportedOperationException
alter table ${missing} add column a int;
-- error TABLE_OR_VIEW_NOT_FOUND if not in path
-- error PATH_NOT_FOUND
select * from ${t} order by id limit 1;
-- expect
--   1 | 10 | NULL
