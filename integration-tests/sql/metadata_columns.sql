-- _index, _position and _shard.

create table ${t} using zrecord as select /*+ coalesce(1) */ id * 10 as id, string(id) as name from range(5);
insert into ${t} select /*+ coalesce(1) */ id * 10, string(id) from range(5, 8);

select _index, id from ${t} order by _index;
-- expect
--   0 | 0
--   1 | 10
--   2 | 20
--   3 | 30
--   4 | 40
--   5 | 50
--   6 | 60
--   7 | 70
select * from ${t} where _index in (7, 2, 99) order by id;
-- expect
--   20 | 2
--   70 | 7
select id from ${t} where _index between 3 and 5 order by id;
-- expect
--   30
--   40
--   50
select _shard, count(*) from ${t} group by _shard order by _shard;
-- expect
--   0 | 5
--   5 | 3
select count(*) from ${t} where _index >= 6 and id < 70;
-- expect
--   1
select max(_index), min(_position) from ${t};
-- expect
--   7 | 0
select a.id, b.id from ${t} a join ${t} b on a._index = b._index + 1 where a._index = 4;
-- expect
--   40 | 30

delete from ${t} where _index = 0;
select _index, id from ${t} order by _index limit 2;
-- expect
--   0 | 10
--   1 | 20
update ${t} set name = 'changed' where _index = 1;
select id from ${t} where name = 'changed';
-- expect
--   20
select _index, id from ${t} version as of 1 where _index = 0;
-- expect
--   0 | 0
select * from ${t} where _index = -1;
-- expect no rows
create table ${bad} (_index bigint) using zrecord;
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   rename it
