-- Errors have a condition of Spark, and words that help.

create table ${t} (id bigint, label int) using zrecord;
insert into ${t} values (1, 10);

select * from ${missing};
-- error TABLE_OR_VIEW_NOT_FOUND if not in path
-- error PATH_NOT_FOUND
select missing from ${t};
-- error UNRESOLVED_COLUMN.WITH_SUGGESTION
select * from ${t} where id = 'text';
-- error CAST_INVALID_INPUT if spark >= 4.0
-- expect no rows
select id / 0 from ${t};
-- error DIVIDE_BY_ZERO if spark >= 4.0
-- expect
--   NULL
selec * from ${t};
-- error PARSE_SYNTAX_ERROR
select * from ${t} version as of 17;
-- error TABLE_OR_VIEW_NOT_FOUND
--   version 17
select * from ${t} version as of -1;
-- error PARSE_SYNTAX_ERROR
insert into ${t} values (1, 'text');
-- error INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST
insert into ${t} select raise_error('stop'), 1;
-- error USER_RAISED_EXCEPTION if spark >= 4.0
-- error RuntimeException
select * from ${t};
-- expect
--   1 | 10

-- Options of a statement.
select * from ${t} with (`nothing` = 1);
-- error PARSE_SYNTAX_ERROR if spark < 4.0
-- error IllegalArgumentException
--   nothing
create table ${bad} (id bigint) using zrecord options ('nothing' = '1');
-- error IllegalArgumentException
--   nothing
create table ${bad} (id bigint) using zrecord clustered by (id) into 4 buckets;
-- error UnsupportedOperationException
create table ${bad} (id bigint) using parquet;
-- error UnsupportedOperationException if not in session
-- expect no rows
-- if in session
drop table ${bad};

-- Settings of a session.
set spark.datasource.zrecord.nothing = 1;
select * from ${t};
-- error IllegalArgumentException
--   nothing
reset spark.datasource.zrecord.nothing;
set spark.datasource.zrecord.expectedVersion = 7;
insert into ${t} values (2, 20);
-- error ZRECORD_COMMIT_CONFLICT
--   version 7 was expected
reset spark.datasource.zrecord.expectedVersion;
select count(*) from ${t};
-- expect
--   1
