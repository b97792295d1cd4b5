{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='month') }}

select count(*) as answers, date_format(i.taken_on, 'yyyy-MM') as month
from {{ ref('answered') }} a
join {{ ref('images') }} i on i.image_id = a.image_id
group by month
{% if is_incremental() %}
having month >= (select max(month) from {{ this }})
{% endif %}
