{% snapshot history %}
{{ config(unique_key='id', strategy='timestamp', updated_at='updated', target_schema='photos') }}
select * from {{ ref('labels') }}
{% endsnapshot %}
