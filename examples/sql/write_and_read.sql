-- spark-sql --jars zrecord-spark.jar --hivevar work=/data -f write_and_read.sql
-- A path is the name of a table; nothing is configured. assert_true ends the script where something is wrong.
create table zrecord.`${work}/digits` as
select id, cast(id % 10 as int) as label, concat('this is record ', id) as text from range(1000);

select * from zrecord.`${work}/digits` limit 5;
select label, count(*) from zrecord.`${work}/digits` group by label order by label;

select assert_true(count(*) = 1000) from zrecord.`${work}/digits`;
select assert_true(count(*) = 100 and sum(id) = 49800) from zrecord.`${work}/digits` where label = 3;
select 'all as expected';
