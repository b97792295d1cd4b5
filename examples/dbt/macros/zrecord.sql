{# Makes tables of zrecord where a project says the format for which dbt merges and takes snapshots. #}
{% macro spark__file_format_clause() %}
  {%- set format = config.get('file_format') -%}
  {%- if format is not none %}
    using {{ 'zrecord' if format == 'iceberg' else format }}
  {%- endif -%}
{% endmacro %}

{# Tells dbt of a table of zrecord that a snapshot may be merged into it. #}
{% macro spark__get_or_create_relation(database, schema, identifier, type) %}
  {%- set exists, relation = dbt.default__get_or_create_relation(database, schema, identifier, type) -%}
  {% do return([exists, relation.incorporate(is_iceberg=exists)]) %}
{% endmacro %}
