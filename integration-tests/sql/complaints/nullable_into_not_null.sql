-- Elsewhere: a query that may have NULL is refused for a column that is NOT NULL, though there is
-- no NULL in it. Here each row is looked at, and the error names the column.

create table ${t} (id bigint not null, label int) using zrecord;
create table ${s} (id bigint, label int) using zrecord;
insert into ${s} values (1, 10), (2, null);
insert into ${t} select id, label from ${s};
insert into ${t} select max(id) + 5, 3 from ${s};
select * from ${t} order by id;
-- expect
--   1 | 10
--   2 | NULL
--   7 | 3
insert into ${t} select label, label from ${s};
-- error NullPointerException if spark < 4.0
--   id
-- error NOT_NULL_ASSERT_VIOLATION
--   id
update ${t} set id = label where id = 2;
-- error NullPointerException if spark < 4.0
--   the column 'id'
--   declared NOT NULL; give a value
-- error NOT_NULL_ASSERT_VIOLATION
--   the column 'id'
--   declared NOT NULL; give a value
merge into ${t} t using ${s} s on t.id = s.id + 1000
  when not matched then insert (id, label) values (s.label, s.label);
-- error NullPointerException if spark < 4.0
--   declared NOT NULL; give a value
-- error NOT_NULL_ASSERT_VIOLATION
--   declared NOT NULL; give a value
merge into ${t} t using ${s} s on t.id = s.id
  when matched then update set id = s.label;
-- error NullPointerException if spark < 4.0
--   declared NOT NULL; give a value
-- error NOT_NULL_ASSERT_VIOLATION
--   declared NOT NULL; give a value
-- A MERGE that has no NULL.
merge into ${t} t using ${s} s on t.id = s.id + 1000
  when not matched and s.label is not null then insert (id, label) values (s.label, s.label);
select * from ${t} order by id;
-- expect
--   1 | 10
--   2 | NULL
--   7 | 3
--   10 | 10
