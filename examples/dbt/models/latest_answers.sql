{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='answer_id',
    on_schema_change='sync_all_columns'
) }}

select *
from {{ ref('answered') }}
{% if is_incremental() %}
where answered_at > (select max(answered_at) from {{ this }})
{% endif %}
