-- What Spark refuses to every table of a catalog of its second interface, whatever the source does.

create table ${t} (id bigint, label int) using zrecord;
insert into ${t} values (1, 10), (2, 20);

analyze table ${t} compute statistics;
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
analyze table ${t} compute statistics for all columns;
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
load data inpath '/nowhere' into table ${t};
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
repair table ${t};
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
show create table ${t} as serde;
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
alter table ${t} set serde 'x';
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE
-- if spark >= 4.0
describe table extended ${t} as json;
-- error AnalysisException
insert into ${t} replace using (id) values (1, 11);
-- error PARSE_SYNTAX_ERROR if spark < 4.2
-- error AnalysisException
-- if spark >= 4.2
insert into ${t} replace on ${t}.id = s.id select 1 as id, 11 as label;
-- error AnalysisException
show columns in ${t};
-- error NOT_SUPPORTED_COMMAND_FOR_V2_TABLE if spark < 4.0
-- expect
--   id
--   label
create index i on ${t} (id);
-- error AnalysisException
select * from ${t} order by id;
-- expect
--   1 | 10
--   2 | 20
