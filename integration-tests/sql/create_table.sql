-- CREATE TABLE, and what DESCRIBE and SHOW say of the table.

create table ${t} (
  id bigint not null comment 'the number',
  label int,
  tags array<string> comment 'words'
) using zrecord comment 'labels of photos' tblproperties ('team' = 'vision', 'a.b' = 'c');

describe table ${t};
-- expect
--   id | bigint | the number
--   label | int | NULL
--   tags | array<string> | words
describe table extended ${t};
-- expect among others
--   Provider | zrecord |
--   Comment | labels of photos |
describe ${t} label;
-- expect among others
--   col_name | label
--   data_type | int
--   comment | NULL
describe ${t} missing;
-- error UNRESOLVED_COLUMN
show tblproperties ${t} ('team');
-- expect
--   team | vision
show create table ${t};
-- expect words
--   COMMENT 'labels of photos'
--   'team' = 'vision'
--   label INT

insert into ${t} values (1, 2, array('x', null)), (2, null, null);
select id, label, cast(tags as string) from ${t} order by id;
-- expect
--   1 | 2 | [x, null]
--   2 | NULL | NULL
insert into ${t} values (null, 3, null);
-- error NullPointerException if spark < 4.0
-- error NOT_NULL_ASSERT_VIOLATION
select count(*) from ${t};
-- expect
--   2

create table ${t} (id bigint) using zrecord;
-- error TABLE_OR_VIEW_ALREADY_EXISTS
create table if not exists ${t} (other string) using zrecord;
describe table ${t};
-- expect
--   id | bigint | the number
--   label | int | NULL
--   tags | array<string> | words

-- A replaced table has nothing of the one before.
create or replace table ${t} (other string) using zrecord;
select * from ${t};
-- expect no rows
describe table ${t};
-- expect
--   other | string | NULL
show tblproperties ${t} ('team');
-- expect words
--   does not have property
replace table ${missing} (id bigint) using zrecord;
-- error TABLE_OR_VIEW_NOT_FOUND if not in path
-- error TABLE_OR_VIEW_NOT_FOUND
create or replace table ${new} (id bigint) using zrecord;
select count(*) from ${new};
-- expect
--   0

create table ${twice} (id bigint, ID int) using zrecord;
-- error COLUMN_ALREADY_EXISTS
create table ${none} (id nosuchtype) using zrecord;
-- error UNSUPPORTED_DATATYPE

-- if in named session
drop table ${t};
-- if in named session
drop table ${t};
-- error TABLE_OR_VIEW_NOT_FOUND
drop table if exists ${missing};
-- if in path
drop table ${t};
-- error UnsupportedOperationException
--   bin/zrecord drop
