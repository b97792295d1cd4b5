-- DELETE and TRUNCATE.

create table ${t} (id bigint, label int, name string) using zrecord;
insert into ${t} values
  (1, 10, 'a'), (2, 20, 'b'), (3, null, 'c'), (4, 40, null), (5, 50, 'e'), (6, 60, 'f');

delete from ${t} where id = 1;
select id from ${t} order by id;
-- expect
--   2
--   3
--   4
--   5
--   6

-- A condition that is NULL does not delete.
delete from ${t} where label > 45 and label < 55;
delete from ${t} where label <> 20 and name = 'zzz';
delete from ${t} where name <> 'f' and label <> 20;
select id, label, name from ${t} order by id;
-- expect
--   2 | 20 | b
--   3 | NULL | c
--   4 | 40 | NULL
--   6 | 60 | f

delete from ${t} where label is null;
delete from ${t} t where t.name is null;
select id from ${t} order by id;
-- expect
--   2
--   6

-- The place of a record.
delete from ${t} where _index = 0;
select id from ${t};
-- expect
--   6

-- Subqueries on other tables and on the table itself.
insert into ${t} select id, cast(id * 10 as int), 'n' from range(10, 20);
create table ${gone} (id bigint) using zrecord;
insert into ${gone} values (11), (13), (null);
delete from ${t} where id in (select id from ${gone});
delete from ${t} t where exists (select 1 from ${gone} g where g.id + 4 = t.id) and t.id > 16;
delete from ${t} where id > (select avg(id) from ${t}) + 4;
select id from ${t} order by id;
-- expect
--   6
--   10
--   12
--   14
--   15
--   16

-- NOT IN with a NULL is never true.
delete from ${t} where id not in (select id from ${gone});
select count(*) from ${t};
-- expect
--   6

-- Functions, LIKE, IN, BETWEEN, OR.
delete from ${t} where name like 'n%' and (id in (10, 99) or id between 15 and 16);
delete from ${t} where upper(name) = 'N' and id % 7 = 0;
select id from ${t} order by id;
-- expect
--   6
--   12

-- What finds nothing changes nothing.
delete from ${t} where id = 777;
select count(*) from ${t};
-- expect
--   2

delete from ${t} where missing = 1;
-- error UNRESOLVED_COLUMN
delete from ${missing};
-- error TABLE_OR_VIEW_NOT_FOUND if not in path
-- error PATH_NOT_FOUND

delete from ${t};
select count(*), max(id) from ${t};
-- expect
--   0 | NULL

insert into ${t} values (1, 1, 'back');
truncate table ${t};
select count(*) from ${t};
-- expect
--   0
insert into ${t} values (2, 2, 'again');
select * from ${t};
-- expect
--   2 | 2 | again
