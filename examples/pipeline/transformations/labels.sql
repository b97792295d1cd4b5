CREATE MATERIALIZED VIEW labels
USING zrecord
COMMENT 'the last label of each image'
TBLPROPERTIES ('write.compression.label' = 'zstd')
AS SELECT image_id, max_by(label, answer_id) AS label, count(*) AS answers
FROM answers GROUP BY image_id;
