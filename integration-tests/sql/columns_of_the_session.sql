-- ALTER TABLE for columns of a table of the session's catalog. Only what the catalog itself keeps
-- can be changed: defaults and comments.
-- file in session

create table ${t} using zrecord as select * from values (1L, 10), (2L, 20) as x(id, label);
alter table ${t} alter column label set default 7;
alter table ${t} alter column label comment 'what it shows';
insert into ${t} values (3, default);
select * from ${t} order by id;
-- expect
--   1 | 10
--   2 | 20
--   3 | 7
describe table ${t};
-- expect
--   id | bigint | NULL
--   label | int | what it shows

alter table ${t} add column name string;
-- error UnsupportedOperationException
--   mergeSchema=true
alter table ${t} rename column label to class;
-- error UnsupportedOperationException
alter table ${t} drop column label;
-- error UnsupportedOperationException
alter table ${t} alter column label type bigint;
-- error UnsupportedOperationException
alter table ${t} alter column label first;
-- error UnsupportedOperationException
select * from ${t} order by id limit 1;
-- expect
--   1 | 10
