-- Elsewhere: the least and the greatest of texts and binaries are answered from statistics that
-- were cut, and are wrong. Here texts that differ late, and those beyond ASCII, compare as they
-- should.

create table ${t} (id bigint, name string, bytes binary) using zrecord;
insert into ${t} select /*+ coalesce(1) */
  id, concat(repeat('a', 40), string(id)), cast(concat(repeat('b', 40), string(id)) as binary)
  from range(10, 100);
insert into ${t} values
  (1, concat(repeat('a', 40), 'Ä'), X'FFFF'), (2, concat(repeat('a', 40), '😀'), X''), (3, '', X'00'),
  (4, concat(repeat(string(X'F48FBFBF'), 10), 'x'), cast(repeat('z', 50) as binary));
select substr(min(name), 41), substr(max(name), 11), hex(min(bytes)), hex(max(bytes)) from ${t};
-- expect
--   | x | | FFFF
select count(*) from ${t} where name > concat(repeat('a', 40), '98');
-- expect
--   4
select count(*) from ${t} where name < concat(repeat('a', 40), '11');
-- expect
--   2
select id from ${t} where name = concat(repeat('a', 40), '55');
-- expect
--   55
select id from ${t} where name like 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa😀%';
-- expect
--   2
select count(*) from ${t} where name >= repeat('a', 40) and name <= concat(repeat('a', 40), '99');
-- expect
--   90
select count(*) from ${t} where bytes > cast(repeat('b', 40) as binary);
-- expect
--   92
select count(*) from ${t} where name = '' or bytes = X'';
-- expect
--   2
