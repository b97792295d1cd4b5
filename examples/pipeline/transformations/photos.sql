-- What arrives, as it arrives: each run adds what is new.
create streaming table seen using zrecord
as select id, label from stream lake.raw.photos where label is not null;

-- Made anew by each run.
create materialized view counts using zrecord
as select label, count(*) as photos from seen group by label;
