{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select id, file, label, cast(updated as timestamp) updated from {{ ref('imported') }}
{% if is_incremental() %}
where cast(updated as timestamp) > (select max(updated) from {{ this }})
{% endif %}
