-- After write_and_read.sql: spark-sql --jars zrecord-spark.jar --hivevar work=/data -f append_and_time_travel.sql
insert into zrecord.`${work}/digits`
select id, cast(id % 10 as int) as label, concat('this is record ', id) as text from range(1000, 1500);

select assert_true(count(*) = 1500) from zrecord.`${work}/digits`;
select assert_true(count(*) = 1000) from zrecord.`${work}/digits` version as of 0;
select 'all as expected';
