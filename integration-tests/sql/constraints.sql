-- CHECK, PRIMARY KEY, UNIQUE and FOREIGN KEY, which Spark has since 4.1.
-- file spark >= 4.1
-- file in named path

create table ${t} (
  id bigint,
  width int check (width > 0),
  name string,
  constraint named check (name is null or length(name) < 4),
  primary key (id)
) using zrecord;
insert into ${t} values (1, 10, 'abc'), (2, null, null);
insert into ${t} values (3, 0, 'abc');
-- error CHECK_CONSTRAINT_VIOLATION
insert into ${t} values (3, 1, 'abcd');
-- error CHECK_CONSTRAINT_VIOLATION
--   named
insert into ${t} values (null, 1, 'a');
-- error NOT_NULL_ASSERT_VIOLATION
update ${t} set width = -1 where id = 1;
-- error CHECK_CONSTRAINT_VIOLATION
merge into ${t} t using (select 2 as id, 'long name' as name) s on t.id = s.id
  when matched then update set name = s.name;
-- error CHECK_CONSTRAINT_VIOLATION
insert overwrite ${t} values (9, -9, null);
-- error CHECK_CONSTRAINT_VIOLATION
select * from ${t} order by id;
-- expect
--   1 | 10 | abc
--   2 | NULL | NULL

alter table ${t} add constraint small check (width < 100);
insert into ${t} values (4, 100, 'x');
-- error CHECK_CONSTRAINT_VIOLATION
--   small
alter table ${t} drop constraint small;
insert into ${t} values (4, 100, 'x');
alter table ${t} add constraint small check (width < 100);
-- error NEW_CHECK_CONSTRAINT_VIOLATION
alter table ${t} drop constraint small;
-- error SparkException
--   Unsupported table change
--   There is no constraint 'small'
alter table ${t} drop constraint if exists small;
alter table ${t} add constraint named check (id > 0);
-- error SparkException
--   Unsupported table change
--   names are unique

-- Keys are informative.
alter table ${t} add constraint once unique (name);
insert into ${t} values (1, 10, 'abc');
select count(*) from ${t} where id = 1;
-- expect
--   2
create table ${other} (photo bigint, foreign key (photo) references ${t} (id)) using zrecord;
insert into ${other} values (999);

-- What other writers cannot evaluate.
alter table ${t} add constraint soon check (id < unix_timestamp());
-- error UnsupportedOperationException
--   calls unix_timestamp
alter table ${t} add constraint subquery check (id in (select 1));
-- error INTERNAL_ERROR
alter table ${t} drop column width;
-- error AnalysisException

show create table ${t};
-- expect words
--   CONSTRAINT named CHECK
