-- Namespaces of a warehouse, and databases of the session's catalog.
-- file in named session

show namespaces in ${catalog} like '${space}';
-- expect
--   ${space}
show tables in ${namespace};
-- expect no rows

create table ${t} (id bigint) using zrecord;
create table ${other} (id bigint) using zrecord;
show tables in ${namespace};
-- expect in any order if by spark-sql
--   t
--   other
-- expect in any order
--   ${space} | t | false
--   ${space} | other | false
show tables in ${namespace} like 'o*';
-- expect if by spark-sql
--   other
-- expect
--   ${space} | other | false

use ${namespace};
select current_catalog(), current_schema();
-- expect
--   ${catalog} | ${space}
insert into t values (1);
select * from t;
-- expect
--   1
select * from ${t};
-- expect
--   1
drop table other;
show tables;
-- expect if by spark-sql
--   t
-- expect
--   ${space} | t | false
use spark_catalog.default;
select * from ${other};
-- error TABLE_OR_VIEW_NOT_FOUND

comment on namespace ${namespace} is 'photos';
alter namespace ${namespace} set dbproperties ('team' = 'vision', 'stage' = 'raw');
describe namespace extended ${namespace};
-- expect among others
--   Comment | photos
--   Properties | ((stage,raw), (team,vision))
-- if spark >= 4.0
alter namespace ${namespace} unset dbproperties ('stage');
-- if spark >= 4.0
describe namespace extended ${namespace};
-- expect among others
--   Properties | ((team,vision))

create namespace ${namespace};
-- error SCHEMA_ALREADY_EXISTS
create namespace if not exists ${namespace};
drop namespace ${namespace};
-- error SCHEMA_NOT_EMPTY
create table ${catalog}.nowhere_${space}.t (id bigint) using zrecord;
-- error SCHEMA_NOT_FOUND
use ${catalog}.nowhere_${space};
-- error SCHEMA_NOT_FOUND
show tables in ${catalog}.nowhere_${space};
-- error SCHEMA_NOT_FOUND
drop namespace ${catalog}.nowhere_${space};
-- error SCHEMA_NOT_FOUND
drop namespace if exists ${catalog}.nowhere_${space};

-- Namespaces within each other are of a warehouse only.
create namespace ${namespace}.inner;
-- error REQUIRES_SINGLE_PART_NAMESPACE if in session and spark >= 4.0
-- error SparkException if in session
-- expect no rows
-- if in named
create table ${namespace}.inner.deep (id bigint) using zrecord;
-- if in named
insert into ${namespace}.inner.deep values (7);
-- if in named
select * from ${namespace}.inner.deep;
-- expect
--   7
-- if in named
show namespaces in ${namespace};
-- expect
--   ${space}.inner
-- if in named
drop namespace ${namespace}.inner cascade;
-- if in named
show namespaces in ${namespace};
-- expect no rows

drop namespace ${namespace} cascade;
show namespaces in ${catalog} like '${space}';
-- expect no rows
create namespace ${namespace};
select * from ${t};
-- error TABLE_OR_VIEW_NOT_FOUND
