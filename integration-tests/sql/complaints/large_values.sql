-- Elsewhere: large binary values cannot be read after a MERGE, read as NULL, or end the process in
-- batches of more than 512. Here they are values like others.

create table ${t} (id bigint, part string, image binary) using zrecord partitioned by (part);
insert into ${t}
  select id, if(id < 300, 'a', 'b'), cast(repeat(string(id % 10), 2000) as binary) from range(600);
select count(image), sum(length(image)) from ${t};
-- expect
--   600 | 1200000
select count(*) from ${t} where length(image) = 2000 and substr(image, 1, 1) = cast('7' as binary);
-- expect
--   60
merge into ${t} t using (select id from range(590, 610)) s on t.id = s.id
  when matched then update set image = cast('new' as binary)
  when not matched then insert (id, part, image) values (s.id, 'c', cast(repeat('c', 70000) as binary));
update ${t} set part = 'c' where id in (0, 1);
delete from ${t} where id between 2 and 9;
-- if spark >= 4.0
call ${catalog}.system.rebalance('${t:argument}', all_shards => true);
select part, count(*), count(image), sum(length(image)) from ${t} group by part order by part;
-- expect
--   a | 290 | 290 | 580000
--   b | 300 | 300 | 580030
--   c | 12 | 12 | 704000
select count(*) from ${t} where image is null or length(image) = 0;
-- expect
--   0
select id, length(image), string(substr(image, 1, 3)) from ${t} where id in (1, 10, 595, 605)
  order by id;
-- expect
--   1 | 2000 | 111
--   10 | 2000 | 000
--   595 | 3 | new
--   605 | 70000 | ccc
select length(concat_ws('', collect_list(string(image)))) from ${t} where part = 'c' and id > 1;
-- expect
--   700000
