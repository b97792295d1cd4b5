-- Elsewhere: a mode that was asked for is not there, and another one is taken without a word. Here
-- what zrecord does not know is refused, before anything is written.

create table ${t} (id bigint) using zrecord;
insert into ${t} values (1);

create table ${bad} (id bigint) using zrecord options ('compression' = 'snappy');
-- error IllegalArgumentException
--   snappy
create table ${bad} (id bigint) using zrecord options ('compresion' = 'zstd');
-- error IllegalArgumentException
--   compresion
create table ${bad} (id bigint) using zrecord tblproperties ('write.distribution' = 'hash');
-- error IllegalArgumentException
--   hash
create table ${bad} (id bigint) using zrecord tblproperties ('zrecord.deletes' = 'copy');
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   zrecord.deletes
-- if spark >= 4.0
create table ${bad} (id bigint) using zrecord cluster by (id);
-- error UnsupportedOperationException
-- if spark >= 4.0
alter table ${t} cluster by (id);
-- error UnsupportedOperationException
set spark.datasource.zrecord.compression = snappy;
insert into ${t} values (2);
-- error IllegalArgumentException
--   snappy
reset spark.datasource.zrecord.compression;
select * from ${t};
-- expect
--   1
