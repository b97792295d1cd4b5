{{ config(materialized='table', tblproperties={'write.compression.label': 'zstd'}) }}

select image_id, max_by(label, answered_at) as label, count(*) as answers
from {{ ref('latest_answers') }}
group by image_id
