-- Arrays, structs and maps.

create table ${t} (
  id bigint,
  numbers array<int>,
  words array<string>,
  place struct<x: int, name: string, inner: struct<y: double>>,
  weights map<string, double>,
  boxes array<struct<w: int, h: int>>,
  matrix array<array<float>>
) using zrecord;
insert into ${t} values
  (1, array(1, 2, 3), array('a', null), named_struct('x', 1, 'name', 'n', 'inner',
    named_struct('y', 0.5D)), map('k', 1.5D, 'l', null), array(named_struct('w', 1, 'h', 2)),
    array(array(float(1), float(2)), array(float(3)))),
  (2, null, null, null, null, null, null),
  (3, array(), array(), named_struct('x', null, 'name', null, 'inner', null), map(), array(),
    array(array())),
  (4, array(-1), array(''), named_struct('x', 4, 'name', '', 'inner', named_struct('y', null)),
    map('', 0D), array(null, named_struct('w', null, 'h', 7)), array(null, array(float(0))));

select id, string(numbers), string(words), string(matrix) from ${t} order by id;
-- expect
--   1 | [1, 2, 3] | [a, null] | [[1.0, 2.0], [3.0]]
--   2 | NULL | NULL | NULL
--   3 | [] | [] | [[]]
--   4 | [-1] | [] | [null, [0.0]]
select id, string(place), string(weights), string(boxes) from ${t} order by id;
-- expect
--   1 | {1, n, {0.5}} | {k -> 1.5, l -> null} | [{1, 2}]
--   2 | NULL | NULL | NULL
--   3 | {null, null, null} | {} | []
--   4 | {4, , {null}} | { -> 0.0} | [null, {null, 7}]
select id, numbers[0], place.x, place.inner.y, weights['k'], boxes[0].h from ${t} where id = 1;
-- expect
--   1 | 1 | 1 | 0.5 | 1.5 | 2
select id from ${t} where place.x > 1 or size(words) = 2 order by id;
-- expect
--   1
--   4
select id from ${t} where place is null;
-- expect
--   2
select id from ${t} where place.inner is null order by id;
-- expect
--   2
--   3
select id from ${t} where array_contains(numbers, 2) or weights[''] = 0 order by id;
-- expect
--   1
--   4
select id, n from ${t} lateral view explode(numbers) as n order by id, n;
-- expect
--   1 | 1
--   1 | 2
--   1 | 3
--   4 | -1
select id, k, v from ${t} lateral view explode(weights) as k, v order by id, k;
-- expect
--   1 | k | 1.5
--   1 | l | NULL
--   4 | | 0.0

update ${t} set numbers = array(9, 9), weights = map('u', 2D) where id = 2;
update ${t} set place.x = 44 where id = 4;
select id, string(numbers), string(place), string(weights) from ${t} where id in (2, 4) order by id;
-- expect
--   2 | [9, 9] | NULL | {u -> 2.0}
--   4 | [-1] | {44, , {null}} | { -> 0.0}
-- A NULL in an array of numbers, which is a tensor, is refused.
insert into ${t} (id, numbers, words, place, weights, boxes, matrix)
  values (5, array(1, null), null, null, null, null, null);
-- error NullPointerException if spark < 4.0
--   shape.numbers=list
-- error NOT_NULL_ASSERT_VIOLATION
--   shape.numbers=list
select count(*) from ${t};
-- expect
--   4
delete from ${t} where place.x = 44;
select id from ${t} order by id;
-- expect
--   1
--   2
--   3
alter table ${t} add column place.z int;
-- error UnsupportedOperationException
