-- Scalar types, their limits, NULL, and conditions on them.

create table ${t} (
  name string,
  b boolean, i8 tinyint, i16 smallint, i32 int, i64 bigint, f32 float, f64 double,
  d decimal(20, 4), day date, at timestamp, ntz timestamp_ntz, text string, bytes binary
) using zrecord;
insert into ${t} values
  ('least', false, -128, -32768, -2147483648, -9223372036854775808, float('-Infinity'),
    double('-Infinity'), -9999999999999999.9999, date'0001-01-01', timestamp'0001-01-01 00:00:00',
    timestamp_ntz'0001-01-01 00:00:00', '', X''),
  ('most', true, 127, 32767, 2147483647, 9223372036854775807, float('Infinity'),
    double('Infinity'), 9999999999999999.9999, date'9999-12-31',
    timestamp'9999-12-31 23:59:59.999999', timestamp_ntz'9999-12-31 23:59:59.999999',
    'größer als 😀', X'00FF'),
  ('none', null, null, null, null, null, null, null, null, null, null, null, null, null),
  ('nan', true, 0, 0, 0, 0, float('NaN'), double('NaN'), 0, date'1970-01-01',
    timestamp'1970-01-01 00:00:00', timestamp_ntz'1970-01-01 00:00:00', 'it\'s', X'00');

select name, b, i8, i16, i32, i64 from ${t} order by name;
-- expect
--   least | false | -128 | -32768 | -2147483648 | -9223372036854775808
--   most | true | 127 | 32767 | 2147483647 | 9223372036854775807
--   nan | true | 0 | 0 | 0 | 0
--   none | NULL | NULL | NULL | NULL | NULL
select name, f32, f64, d from ${t} order by name;
-- expect
--   least | -Infinity | -Infinity | -9999999999999999.9999
--   most | Infinity | Infinity | 9999999999999999.9999
--   nan | NaN | NaN | 0.0000
--   none | NULL | NULL | NULL
select name, string(day), string(at), string(ntz) from ${t} order by name;
-- expect
--   least | 0001-01-01 | 0001-01-01 00:00:00 | 0001-01-01 00:00:00
--   most | 9999-12-31 | 9999-12-31 23:59:59.999999 | 9999-12-31 23:59:59.999999
--   nan | 1970-01-01 | 1970-01-01 00:00:00 | 1970-01-01 00:00:00
--   none | NULL | NULL | NULL
select name, text, length(text), hex(bytes) from ${t} order by name;
-- expect
--   least | | 0 |
--   most | größer als 😀 | 12 | 00FF
--   nan | it's | 4 | 00
--   none | NULL | NULL | NULL

-- Each type in a condition.
select name from ${t} where not b or i8 = 127 order by name;
-- expect
--   least
--   most
select name from ${t} where i64 = 9223372036854775807 or i16 < 0 order by name;
-- expect
--   least
--   most
-- NaN is larger than all other numbers, and equals itself.
select name from ${t} where f64 > double('Infinity');
-- expect
--   nan
select name from ${t} where f32 = float('NaN') or f32 < 0 order by name;
-- expect
--   least
--   nan
select name from ${t} where f64 = -0.0 or d > 1;
-- expect
--   most
select name from ${t} where day < date'1970-01-01' or at > timestamp'2000-01-01 00:00:00'
  order by name;
-- expect
--   least
--   most
select name from ${t} where ntz is null or text = '' order by name;
-- expect
--   least
--   none
select name from ${t} where bytes = X'00ff' or text like 'it%' order by name;
-- expect
--   most
--   nan
select name from ${t} where i32 in (0, null);
-- expect
--   nan
select name from ${t} where i32 not in (0, 2147483647);
-- expect
--   least
select name from ${t} where i32 not in (0, null);
-- expect no rows
select min(i64), max(f64), min(text), max(day), sum(i8), avg(i16), count(d) from ${t};
-- expect
--   -9223372036854775808 | NaN | | 9999-12-31 | -1 | -0.3333333333333333 | 3

-- Types that no field has.
create table ${bad} (i interval day to second) using zrecord;
-- error INCOMPATIBLE_DATA_FOR_TABLE
create table ${bad} using zrecord as select interval '1' year as i;
-- error INCOMPATIBLE_DATA_FOR_TABLE
create table ${bad} using zrecord as select null as n;
-- error AnalysisException
-- if spark >= 4.0
create table ${bad} (v variant) using zrecord;
-- error INCOMPATIBLE_DATA_FOR_TABLE
-- if spark >= 4.0
create table ${bad} (s string collate utf8_lcase) using zrecord;
-- error INCOMPATIBLE_DATA_FOR_TABLE
create table ${chars} (c char(3), v varchar(4)) using zrecord;
insert into ${chars} values ('a', 'abcd');
select concat(c, '.'), v from ${chars};
-- expect
--   a  . | abcd
insert into ${chars} values ('a', 'abcde');
-- error EXCEED_LIMIT_LENGTH if spark >= 4.0
-- error SparkRuntimeException
