-- Elsewhere: a NULL struct or array shifts the values of later rows, or a NULL takes the value of
-- the row before. Here each value stays with its record.

create table ${t} (
  id bigint, vector array<float>, place struct<x: int, y: int>, words array<string>, n int
) using zrecord;
insert into ${t} select /*+ coalesce(1) */
    id,
    if(id % 2 = 0, null, array(float(id), float(-id))),
    if(id % 3 = 0, null, named_struct('x', int(id), 'y', if(id % 5 = 0, null, int(id)))),
    if(id % 7 = 0, null, array(string(id), null)),
    if(id % 11 = 0, null, int(id))
  from range(1000);
select count(*) from ${t}
  where (id % 2 = 0) = (vector is null) and (id % 3 = 0) = (place is null)
    and (id % 7 = 0) = (words is null) and (id % 11 = 0) = (n is null);
-- expect
--   1000
select count(*) from ${t} where vector[0] = id and vector[1] = -id;
-- expect
--   500
select count(*) from ${t} where place.x = id and place.y is null and id % 5 = 0;
-- expect
--   133
select count(*) from ${t} where words[0] = string(id) and words[1] is null;
-- expect
--   857
select sum(n), count(n) from ${t};
-- expect
--   454455 | 909
select string(vector), string(place), string(words), n from ${t} where id in (0, 25) order by id;
-- expect
--   NULL | NULL | NULL | NULL
--   [25.0, -25.0] | {25, null} | [25, null] | 25
