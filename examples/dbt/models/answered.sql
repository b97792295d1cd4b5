{{ config(materialized='view') }}

select a.*, i.file
from {{ ref('answers') }} a
join {{ ref('images') }} i on i.image_id = a.image_id
