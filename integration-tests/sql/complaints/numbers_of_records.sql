-- Elsewhere: the numbers of records are wrong after files are merged, or after rows are moved. Here
-- a number stays with its record through updates, moves, deletions and rebalances.
-- file spark >= 4.0
-- file in named path

create table ${t} (
  id bigint generated always as identity, name string, part string
) using zrecord partitioned by (part);
insert into ${t} select null, concat('n', id), if(id < 50, 'a', 'b') from range(100);
create table ${first} using zrecord as select id, name from ${t};

update ${t} set name = upper(name) where part = 'a';
update ${t} set part = 'c' where name in ('N1', 'N2', 'n99');
delete from ${t} where name = 'n98';
merge into ${t} t using (select 'N3' as name union all select 'new') s on t.name = s.name
  when matched then update set part = 'c'
  when not matched then insert (id, name, part) values (default, s.name, 'a');
call ${catalog}.system.rebalance('${t:argument}', all_shards => true);
insert into ${t} select null, 'later', 'a';

select count(*) from ${t} t join ${first} f on t.id = f.id where lower(t.name) = f.name;
-- expect
--   99
select count(*), count(distinct id) from ${t};
-- expect
--   101 | 101
select name from ${t} where id not in (select id from ${first}) order by name;
-- expect
--   later
--   new
