-- UPDATE.

create table ${t} (id bigint, label int, name string, image binary) using zrecord;
insert into ${t} values
  (1, 10, 'a', X'01'), (2, 20, 'b', X'0203'), (3, null, 'c', null), (4, 40, null, X'');

update ${t} set label = label + 1 where id < 3;
update ${t} set name = concat(name, '!'), label = 0 where id = 3;
select id, label, name, hex(image) from ${t} order by id;
-- expect
--   1 | 11 | a | 01
--   2 | 21 | b | 0203
--   3 | 0 | c! | NULL
--   4 | 40 | NULL |

-- All assignments see the record as it was.
update ${t} set label = cast(id as int), id = label where id in (1, 2);
select id, label from ${t} order by id;
-- expect
--   3 | 0
--   4 | 40
--   11 | 1
--   21 | 2

-- To NULL, and to the default, which is NULL here.
update ${t} set name = null where id = 11;
update ${t} set name = default where id = 21;
select count(name), count(*) from ${t};
-- expect
--   1 | 4

-- A subquery in a condition, and one as a value.
update ${t} set name = 'big' where id > (select avg(id) from ${t});
select id, name from ${t} order by id;
-- expect
--   3 | c!
--   4 | NULL
--   11 | big
--   21 | big
update ${t} set label = (select max(id) from ${t}) where id = 3;
select label from ${t} where id = 3;
-- expect
--   21

-- Every record.
update ${t} set image = X'FF';
select distinct hex(image) from ${t};
-- expect
--   FF

-- The value is of the type of the column.
update ${t} set label = cast(7 as smallint) where id = 4;
select label from ${t} where id = 4;
-- expect
--   7
update ${t} set label = 'seven';
-- error INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST
update ${t} set label = 5000000000;
-- error CAST_OVERFLOW_IN_TABLE_INSERT
update ${t} set missing = 1;
-- error UNRESOLVED_COLUMN
update ${t} set label = 1, label = 2;
-- error DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS

-- The order of the records stays.
select _index, id from ${t} order by _index;
-- expect
--   0 | 11
--   1 | 21
--   2 | 3
--   3 | 4
