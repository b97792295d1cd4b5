-- Properties and comments of a table.

create table ${t} (id bigint) using zrecord tblproperties ('a' = '1');
alter table ${t} set tblproperties ('b' = '2', 'a' = '3');
show tblproperties ${t} ('a');
-- expect
--   a | 3
show tblproperties ${t} ('b');
-- expect
--   b | 2
alter table ${t} unset tblproperties ('a');
show tblproperties ${t} ('a');
-- expect words
--   does not have property: a
alter table ${t} unset tblproperties ('a');
alter table ${t} unset tblproperties if exists ('a', 'c');

comment on table ${t} is 'about photos';
describe table extended ${t};
-- expect among others
--   Comment | about photos |
comment on table ${t} is null;

alter table ${t} set tblproperties ('write.distribution' = 'none');
alter table ${t} set tblproperties ('write.distribution' = 'sometimes');
-- error IllegalArgumentException
--   write.distribution
--   sometimes

-- Options of each write, which a write itself may say otherwise.
alter table ${t} set tblproperties ('write.order' = 'nothing');
-- error IllegalArgumentException
--   'nothing'
alter table ${t} set tblproperties ('write.order' = 'upwards up');
-- error IllegalArgumentException
--   upwards up
alter table ${t} set tblproperties ('write.shardBytes' = '1');
-- error IllegalArgumentException
--   65536
alter table ${t} set tblproperties ('write.format.default' = 'orc');
-- error IllegalArgumentException
--   write.format.default
--   shardBytes
alter table ${t} set tblproperties ('zrecord.isolation' = 'snapshot');
-- expect no rows
alter table ${t} set tblproperties ('zrecord.isolation' = 'strict');
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   zrecord.isolation
alter table ${t} set tblproperties ('zrecord.nothing' = '1');
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   zrecord.nothing
alter table ${t} set tblproperties ('compression' = 'zstd');
-- error IllegalArgumentException
--   no effect
alter table ${t} set tblproperties ('option.compression' = 'zstd');
-- error IllegalArgumentException
--   no effect
alter table ${t} set tblproperties ('provider' = 'parquet');
-- error UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY
-- if not in session
alter table ${t} set location '/elsewhere';
-- error UnsupportedOperationException

insert into ${t} values (1);
show tblproperties ${t} ('b');
-- expect
--   b | 2
insert overwrite ${t} values (2);
show tblproperties ${t} ('b');
-- expect
--   b | 2
