-- Names of tables and columns: quoted, in other alphabets, words of SQL, cases.

create table ${t} (
  `select` bigint, `a b` int, `größe` string, `x.y` int, `quo``te` int, `a-b` double
) using zrecord;
insert into ${t} values (1, 2, 'groß', 3, 4, 0.5);
insert into ${t} (`quo``te`, `x.y`, `a b`, `a-b`, `größe`, `select`) values (5, 6, 7, 1.5, null, 8);
select `select`, `a b`, `größe`, `x.y`, `quo``te`, `a-b` from ${t} order by `select`;
-- expect
--   1 | 2 | groß | 3 | 4 | 0.5
--   8 | 7 | NULL | 6 | 5 | 1.5
select `select` from ${t} where `a b` = 7 and `x.y` > 5 and `quo``te` in (5, 6);
-- expect
--   8
update ${t} set `a b` = `x.y` * 10, `größe` = 'klein' where `quo``te` = 4;
delete from ${t} where `a-b` > 1;
select `a b`, `größe` from ${t};
-- expect
--   30 | klein
merge into ${t} t using (select 1 as `select`, 9 as `x.y`) s on t.`select` = s.`select`
  when matched then update set `x.y` = s.`x.y`;
select `x.y` from ${t};
-- expect
--   9
alter table ${t} rename column `a b` to `c d`;
alter table ${t} add column `e f` int comment 'it\'s a "comment"';
alter table ${t} drop column `x.y`;
describe table ${t};
-- expect
--   select | bigint | NULL
--   c d | int | NULL
--   größe | string | NULL
--   quo`te | int | NULL
--   a-b | double | NULL
--   e f | int | it's a "comment"

create table ${parts} (id bigint, `the day` string) using zrecord partitioned by (`the day`);
insert into ${parts} values (1, 'a b/c=d%e'), (2, ''), (3, 'größe');
insert overwrite ${parts} partition (`the day` = '') select 4;
select id, `the day` from ${parts} order by id;
-- expect
--   1 | a b/c=d%e
--   3 | größe
--   4 |

-- Columns are found in any case, and keep the case that they were created in.
create table ${cases} (Id bigint, LABEL int) using zrecord;
insert into ${cases} (label, ID) values (1, 2);
select iD, Label from ${cases} where LaBeL = 1;
-- expect
--   2 | 1
describe table ${cases};
-- expect
--   Id | bigint | NULL
--   LABEL | int | NULL
alter table ${cases} add column label int;
-- error FIELD_ALREADY_EXISTS if spark >= 4.0
-- error FIELDS_ALREADY_EXISTS
