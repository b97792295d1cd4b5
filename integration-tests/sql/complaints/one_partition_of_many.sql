-- Elsewhere: an overwrite of one partition loses another, or is not there at all. Here the others
-- keep their records, their shards and their places.

create table ${t} (id bigint, day string) using zrecord partitioned by (day);
insert into ${t} select id, concat('d', id % 4) from range(40);
create table ${before} using zrecord as select shard, partition.day from ${t}.shards;
insert overwrite ${t} partition (day = 'd1') select id from range(100, 103);
select day, count(*), min(id), max(id) from ${t} group by day order by day;
-- expect
--   d0 | 10 | 0 | 36
--   d1 | 3 | 100 | 102
--   d2 | 10 | 2 | 38
--   d3 | 10 | 3 | 39
select b.day from ${before} b join ${t}.shards s on b.shard = s.shard order by b.day;
-- expect
--   d0
--   d2
--   d3
insert into ${t} replace where day in ('d2', 'd3') select 200, 'd3';
select day, count(*) from ${t} group by day order by day;
-- expect
--   d0 | 10
--   d1 | 3
--   d3 | 1
delete from ${t} where day = 'd0';
select count(*) from ${t};
-- expect
--   4
