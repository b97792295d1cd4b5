-- CREATE TABLE LIKE. Spark before 4.2 knows it for tables of its own session catalog only, where
-- names have two parts at most.

create table ${t} (id bigint comment 'the number', label int) using zrecord;
insert into ${t} values (1, 2);
-- if spark < 4.2
create table ${copy} like ${t};
-- error SCHEMA_NOT_FOUND if in path
-- error PARSE_SYNTAX_ERROR

-- if in session and spark < 4.2
create table ${space}.copy like ${space}.t;
-- if in session and spark < 4.2
describe ${copy};
-- expect
--   id | bigint | the number
--   label | int | NULL
-- if in session and spark < 4.2
select * from ${copy};
-- expect no rows
-- if in session and spark < 4.2
insert into ${copy} values (3, 4);
-- if in session and spark < 4.2
select * from ${copy};
-- expect
--   3 | 4

-- if spark >= 4.2
create table ${copy} like ${t};
-- if spark >= 4.2
select * from ${copy};
-- expect no rows
-- if spark >= 4.2
insert into ${copy} values (3, 4);
-- if spark >= 4.2
select * from ${copy};
-- expect
--   3 | 4

-- What works everywhere.
create table ${empty} using zrecord as select * from ${t} where false;
select * from ${empty};
-- expect no rows
select * from ${t};
-- expect
--   1 | 2
