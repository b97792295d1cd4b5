-- Elsewhere: a query that may have NULL is refused for a column that is NOT NULL, though there is no
-- NULL in it. Here each row is looked at, and the error names the column.

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
-- error NOT_NULL_ASSERT_VIOLATION if spark >= 4.0
--   id
-- error SparkRuntimeException
--   id
update ${t} set id = label where id = 2;
-- error NOT_NULL_ASSERT_VIOLATION if spark >= 4.0
-- error SparkRuntimeException
merge into ${t} t using ${s} s on t.id = s.id + 1000
  when not matched then insert (id, label) values (s.label, s.label);
-- error NOT_NULL_ASSERT_VIOLATION if spark >= 4.0
-- error SparkRuntimeException
select count(*) from ${t};
-- expect
--   3
