-- MERGE with all its clauses.

create table ${t} (id bigint, label int, name string) using zrecord;
create table ${s} (id bigint, label int, name string) using zrecord;
insert into ${t} values (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, null, 'd');
insert into ${s} values (2, 200, 'B'), (3, null, 'C'), (5, 500, 'E'), (6, 600, 'F');

merge into ${t} t using ${s} s on t.id = s.id
  when matched and s.label is null then delete
  when matched then update set label = s.label
  when not matched and s.id > 5 then insert (id, name, label) values (s.id, 'new', default)
  when not matched then insert *;
select * from ${t} order by id;
-- expect
--   1 | 10 | a
--   2 | 200 | b
--   4 | NULL | d
--   5 | 500 | E
--   6 | NULL | new

-- Records that the source does not have.
merge into ${t} t using ${s} s on t.id = s.id
  when matched then update set *
  when not matched by source and t.label is null then delete
  when not matched by source then update set name = concat(t.name, '?'), label = -t.label;
select * from ${t} order by id;
-- expect
--   1 | -10 | a?
--   2 | 200 | B
--   5 | 500 | E
--   6 | 600 | F

-- The first clause whose condition holds counts, and a clause without an effect leaves the record.
merge into ${t} t using (select 5 as id) s on t.id = s.id
  when matched and t.label < 0 then delete
  when matched and t.label > 100 then update set name = 'first'
  when matched and t.label > 1 then update set name = 'second'
  when matched then delete;
select name from ${t} where id = 5;
-- expect
--   first

-- Only insertions: a record that is there stays as it is.
merge into ${t} using ${s} on ${t}.id = ${s}.id
  when not matched then insert *;
select id, label from ${t} order by id;
-- expect
--   1 | -10
--   2 | 200
--   3 | NULL
--   5 | 500
--   6 | 600

-- NULL equals nothing, so a source record with NULL is inserted.
merge into ${t} t using (select cast(null as bigint) as id, 1 as label) s on t.id = s.id
  when matched then delete
  when not matched then insert (id, label, name) values (s.id, s.label, 'null');
select count(*) from ${t} where id is null;
-- expect
--   1

-- <=> matches NULL.
merge into ${t} t using (select cast(null as bigint) as id) s on t.id <=> s.id
  when matched then delete;
select count(*) from ${t};
-- expect
--   5

-- Two records of the source for one record.
merge into ${t} t using (select 2 as id, v as label from values (1), (2) as x(v)) s on t.id = s.id
  when matched then update set label = s.label;
-- error MERGE_CARDINALITY_VIOLATION
select label from ${t} where id = 2;
-- expect
--   200

-- … of which the clauses take one.
merge into ${t} t using (select 2 as id, v as label from values (1), (2) as x(v)) s
  on t.id = s.id and s.label = 2
  when matched then update set label = s.label;
select label from ${t} where id = 2;
-- expect
--   2

-- Two records of the source that are not there are two records.
merge into ${t} t using (select 70 as id from range(2)) s on t.id = s.id
  when not matched then insert (id, label, name) values (s.id, 7, 'twin');
select count(*) from ${t} where id = 70;
-- expect
--   2

-- A condition without the source.
merge into ${t} t using ${s} s on false
  when not matched by source and t.id = 70 then delete;
select count(*) from ${t} where id = 70;
-- expect
--   0

-- A source that is the table itself.
merge into ${t} t using (select id + 100 as id, label, name from ${t} where id < 3) s on t.id = s.id
  when not matched then insert *;
select id from ${t} order by id;
-- expect
--   1
--   2
--   3
--   5
--   6
--   101
--   102

-- A common table expression as the source.
with big as (select id, label from ${t} where id > 100)
merge into ${t} t using big on t.id = big.id
  when matched then update set name = 'big';
select count(*) from ${t} where name = 'big';
-- expect
--   2

merge into ${t} t using ${s} s on t.id = s.id
  when matched then update set missing = 1;
-- error UNRESOLVED_COLUMN
merge into ${t} t using ${s} s on t.id = s.id
  when matched then update set label = s.name;
-- error INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST
merge into ${t} t using ${s} s on t.id = s.id
  when matched then delete
  when matched then update set label = 1;
-- error NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION

-- Schema evolution is new in Spark 4.1.
create table ${wide} (id bigint, label int, name string, score double) using zrecord;
insert into ${wide} values (1, 1, 'w', 0.5), (9, 9, 'x', 1.5);
merge with schema evolution into ${t} t using ${wide} w on t.id = w.id
  when matched then update set *
  when not matched then insert *;
-- error PARSE_SYNTAX_ERROR if spark < 4.0
-- error UnsupportedOperationException if spark < 4.1
-- expect no rows

-- if spark >= 4.1
select id, label, name, score from ${t} where id in (1, 2, 9) order by id;
-- expect
--   1 | 1 | w | 0.5
--   2 | 2 | B | NULL
--   9 | 9 | x | 1.5
