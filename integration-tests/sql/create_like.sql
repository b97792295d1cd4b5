-- CREATE TABLE LIKE. Spark before 4.2 knows it for tables of its own session catalog only, and there
-- declares the columns of a table without a dataset of their types.

create table ${t} (id bigint comment 'the number', label int) using zrecord;
insert into ${t} values (1, 2);
create table ${copy} like ${t};
-- error UnsupportedOperationException if spark >= 4.2
-- error ParseException if in named path
-- expect no rows
-- if in session
select * from ${copy};
-- expect no rows
-- if in session
insert into ${copy} values (3, 4);
-- if in session
select * from ${copy};
-- expect
--   3 | 4
select * from ${t};
-- expect
--   1 | 2
