-- After write_and_read.sql: spark-sql --jars zrecord-spark.jar --hivevar work=/data -f by_index.sql
-- Exactly the records asked for are read.
select _index, text from zrecord.`${work}/digits` where _index in (3, 500, 999) order by _index;

select assert_true(count(*) = 3 and sum(id) = 1502) from zrecord.`${work}/digits` where _index in (3, 500, 999);
select assert_true(min(id) = 100 and max(id) = 199) from zrecord.`${work}/digits` where _index between 100 and 199;
select 'all as expected';
