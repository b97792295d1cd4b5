-- CHANGES, which Spark has since 4.2.
-- file spark >= 4.2

create table ${t} using zrecord as
  select * from values (1L, 10), (2L, 20), (3L, 30) as x(id, label);
update ${t} set label = 21 where id = 2;
delete from ${t} where id = 3;
merge into ${t} t using (select 1 as id, 11 as label union all select 4, 40) s on t.id = s.id
  when matched then update set label = s.label
  when not matched then insert *;

select _change_type, id, label from ${t} changes from version 1 to version 1 order by 1;
-- expect
--   update_postimage | 2 | 21
--   update_preimage | 2 | 20
select _change_type, id, label from ${t} changes from version 2 to version 2;
-- expect
--   delete | 3 | 30
select _commit_version, _change_type, id, label
  from ${t} changes from version 0 to version 3 order by 1, 2, 3;
-- expect
--   0 | insert | 1 | 10
--   0 | insert | 2 | 20
--   0 | insert | 3 | 30
--   1 | update_postimage | 2 | 21
--   1 | update_preimage | 2 | 20
--   2 | delete | 3 | 30
--   3 | insert | 4 | 40
--   3 | update_postimage | 1 | 11
--   3 | update_preimage | 1 | 10
select _change_type, id, label from ${t} changes from version 0 exclusive to version 3
  with (deduplicationMode = 'netChanges') order by 2, 1;
-- expect
--   update_postimage | 1 | 11
--   update_preimage | 1 | 10
--   update_postimage | 2 | 21
--   update_preimage | 2 | 20
--   delete | 3 | 30
--   insert | 4 | 40
select count(*) from ${t} changes from version 0;
-- expect
--   9
select id from ${t} changes from version 0 where _change_type = 'delete';
-- expect
--   3
-- What changed makes the one version of the other.
select id, label from ${t} version as of 0
  except select id, label from ${t} changes from version 1
    where _change_type in ('delete', 'update_preimage');
-- expect no rows

select * from ${t} changes from version 9;
-- error AnalysisException
select * from ${t} changes from version 3 to version 1;
-- error AnalysisException
