-- Elsewhere: a statement counts thousands of files where it wrote ten, and a clean-up says nothing
-- of what it removed. Here each version says what it added and removed, and each procedure what it
-- did.

create table ${t} using zrecord as select /*+ coalesce(1) */ id, 0 as label from range(100);
delete from ${t} where id < 10;
update ${t} set label = 1 where id < 30;
merge into ${t} t using (select id from range(95, 105)) s on t.id = s.id
  when matched then delete
  when not matched then insert (id, label) values (s.id, 2);
insert overwrite ${t} select * from ${t} where id < 20;

select version, added_records, removed_records, records from ${t}.versions order by version;
-- expect
--   0 | 100 | 0 | 100
--   1 | 0 | 10 | 90
--   2 | 0 | 0 | 90
--   3 | 5 | 5 | 90
--   4 | 10 | 90 | 10

-- if spark >= 4.0
call ${catalog}.system.expire('${t:argument}', older_than => '1h', keep_versions => 2, dry_run => true);
-- expect
--   true | * | 5 | 0
-- if spark >= 4.0
call ${catalog}.system.changes('${t:argument}', from_version => 0, to_version => 3);
-- expect
--   1 | * | delete | 0 | 10 | 0 | 0 | *
--   2 | * | update | 0 | 0 | 20 | 0 | *
--   3 | * | merge | 5 | 5 | 0 | 0 | *
-- if spark >= 4.2
select _commit_version, _change_type, count(*) from ${t} changes from version 1 to version 3
  group by 1, 2 order by 1, 2;
-- expect
--   1 | delete | 10
--   2 | update_postimage | 20
--   2 | update_preimage | 20
--   3 | delete | 5
--   3 | insert | 5
