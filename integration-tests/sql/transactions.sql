-- A statement that runs twice with one number takes effect once.

create table ${t} (id bigint) using zrecord;
set spark.datasource.zrecord.txnAppId = job;
set spark.datasource.zrecord.txnVersion = 1;
insert into ${t} values (1);
insert into ${t} values (1);
select count(*) from ${t};
-- expect
--   1
set spark.datasource.zrecord.txnVersion = 2;
delete from ${t};
insert into ${t} values (2);
select count(*) from ${t};
-- expect
--   0
set spark.datasource.zrecord.txnVersion = 3;
insert into ${t} values (3);
reset spark.datasource.zrecord.txnAppId;
reset spark.datasource.zrecord.txnVersion;
select * from ${t};
-- expect
--   3
select max(transactions['job']) from ${t}.versions;
-- expect
--   3
