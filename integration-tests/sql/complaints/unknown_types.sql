-- Elsewhere: a type can be created that a MERGE cannot write, or that is dropped in silence. Here a
-- type that no field has is refused where it is declared, and where a query brings it.
-- file spark >= 4.0

create table ${bad} (id bigint, v variant) using zrecord;
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   v
create table ${bad} using zrecord as select 1L as id, parse_json('{"a": 1}') as v;
-- error INCOMPATIBLE_DATA_FOR_TABLE
--   v
create table ${t} (id bigint, v string) using zrecord;
insert into ${t} values (1, '{"a": 1}');
alter table ${t} add column w variant;
-- error INCOMPATIBLE_DATA_FOR_TABLE
merge into ${t} t using (select 1L as id, parse_json('{"a": 2}') as v) s on t.id = s.id
  when matched then update set v = to_json(s.v);
select id, variant_get(parse_json(v), '$.a', 'int') from ${t};
-- expect
--   1 | 2
