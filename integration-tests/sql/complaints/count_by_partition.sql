-- Elsewhere: a count by partition needs the memory of all files on the driver. Here the lists of
-- shards answer, and the answers are those of a scan, also after deletions.

create table ${t} (id bigint, day int, country string) using zrecord partitioned by (day, country);
insert into ${t} select id, cast(id % 20 as int), if(id % 3 = 0, 'de', 'fr') from range(600);
delete from ${t} where id < 60;
update ${t} set country = 'at' where id between 60 and 62;
select count(*), count(distinct day, country) from ${t};
-- expect
--   540 | 43
select day, country, count(*) from ${t} where day < 3 group by day, country order by 1, 2;
-- expect
--   0 | at | 1
--   0 | de | 8
--   0 | fr | 18
--   1 | at | 1
--   1 | de | 9
--   1 | fr | 17
--   2 | at | 1
--   2 | de | 9
--   2 | fr | 17
select country, count(*), count(id) from ${t} group by country order by country;
-- expect
--   at | 3 | 3
--   de | 179 | 179
--   fr | 358 | 358
select day, count(*) from ${t} where country = 'at' and id > 0 group by day order by day;
-- expect
--   0 | 1
--   1 | 1
--   2 | 1
select country, count(*) from ${t} where day = 77 group by country;
-- expect no rows
select count(*) from ${t} where day = 77;
-- expect
--   0
