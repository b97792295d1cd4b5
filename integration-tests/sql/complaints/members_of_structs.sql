-- Elsewhere: UPDATE and MERGE of one member of a struct are refused, or lose the other members.

create table ${t} (id bigint, s struct<a: int, b: struct<c: string, d: int>>, m map<string, int>)
  using zrecord;
insert into ${t} values
  (1, named_struct('a', 1, 'b', named_struct('c', 'x', 'd', 2)), map('k', 1)), (2, null, null);
update ${t} set s.b.c = 'y' where id = 1;
select string(s), string(m) from ${t} where id = 1;
-- expect
--   {1, {y, 2}} | {k -> 1}
merge into ${t} t using (select 1 as id, 7 as a) u on t.id = u.id
  when matched then update set s.a = u.a, s.b.d = u.a + 1;
select string(s) from ${t} where id = 1;
-- expect
--   {7, {y, 8}}
update ${t} set s = named_struct('a', 0, 'b', named_struct('c', null, 'd', null)) where id = 2;
update ${t} set s.b = null where id = 1;
select id, string(s) from ${t} order by id;
-- expect
--   1 | {7, null}
--   2 | {0, {null, null}}
update ${t} set s.a = 1, s.a = 2;
-- error DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS
update ${t} set m['k'] = 2;
-- error ParseException
