-- INSERT by position and by name, from values, queries and other tables, with defaults and casts.

create table ${t} (id bigint, label int, name string) using zrecord;

insert into ${t} values (1, 10, 'a');
insert into ${t} values (2, 20, 'b'), (3, null, null);
insert into ${t} select 4, 40, 'd';
insert into ${t} table ${t};

select id, label, name, count(*) from ${t} group by id, label, name order by id;
-- expect
--   1 | 10 | a | 2
--   2 | 20 | b | 2
--   3 | NULL | NULL | 2
--   4 | 40 | d | 2

-- By name, in another order.
create table ${named} (id bigint, label int, name string) using zrecord;
insert into ${named} (name, id, label) values ('x', 1, 5);
select * from ${named};
-- expect
--   1 | 5 | x

insert into ${named} by name select 'y' as name, 6 as label, 2 as id;
select * from ${named} order by id;
-- expect
--   1 | 5 | x
--   2 | 6 | y

-- A column that is left out is NULL. Spark 3.5 and 4.0 ask a catalog for all columns.
insert into ${named} (id) values (3);
-- error INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA if spark < 4.1
-- expect no rows

-- if spark < 4.1
insert into ${named} (id, label, name) values (3, default, default);

select * from ${named} where id = 3;
-- expect
--   3 | NULL | NULL

insert into ${named} by name select 4 as id, 'z' as name, 1 as more;
-- error INCOMPATIBLE_DATA_FOR_TABLE

-- Names differ by case for nobody but the file.
insert into ${named} (ID, LABEL, NAME) values (5, 50, 'c');
select Id, lABEL from ${named} where NAME = 'c';
-- expect
--   5 | 50

-- A number of columns that does not fit.
insert into ${named} values (1, 2);
-- error INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS
insert into ${named} values (1, 2, 'c', 4);
-- error INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS
insert into ${named} (id, id, name) values (1, 2, 'c');
-- error COLUMN_ALREADY_EXISTS
insert into ${named} (id, missing) values (1, 2);
-- error UNRESOLVED_COLUMN

-- Spark's store assignment casts what loses nothing, and refuses texts for numbers.
insert into ${named} values (cast(6 as smallint), cast(7 as tinyint), 8);
select * from ${named} where id = 6;
-- expect
--   6 | 7 | 8
insert into ${named} values ('seven', 7, 'g');
-- error INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST
insert into ${named} values (7, 5000000000, 'too large');
-- error CAST_OVERFLOW_IN_TABLE_INSERT
select count(*) from ${named};
-- expect
--   5

-- From a query with a CTE, a join and a window.
create table ${ranked} (id bigint, place int) using zrecord;
with labels as (select distinct id, label from ${t} where label is not null)
insert into ${ranked} select id, row_number() over (order by label desc) from labels;
select * from ${ranked} order by id;
-- expect
--   1 | 3
--   2 | 2
--   4 | 1

-- One statement that inserts into two tables.
create table ${even} (id bigint) using zrecord;
create table ${odd} (id bigint) using zrecord;
from ${ranked}
insert into ${even} select id where id % 2 = 0
insert into ${odd} select id where id % 2 = 1;
select 'even', id from ${even} union all select 'odd', id from ${odd} order by 1, 2;
-- expect
--   even | 2
--   even | 4
--   odd | 1

-- A statement without rows is a statement.
insert into ${odd} select id from ${odd} where false;
select count(*) from ${odd};
-- expect
--   1

-- Rows of a table go into the same table once.
insert into ${odd} select id + 2 from ${odd};
insert into ${odd} select id + 4 from ${odd};
select id from ${odd} order by id;
-- expect
--   1
--   3
--   5
--   7

insert into ${missing} values (1);
-- error TABLE_OR_VIEW_NOT_FOUND
