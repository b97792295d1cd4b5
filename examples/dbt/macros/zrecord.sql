{# Lets dbt-spark keep models, seeds and snapshots as zrecord tables: file_format: zrecord.
   Copy this file into the macros of a project. Other file formats stay as dbt-spark has them. #}

{% macro is_zrecord() %}
  {{ return(config.get('file_format') == 'zrecord') }}
{% endmacro %}

{% macro dbt_spark_validate_get_file_format(raw_file_format) %}
  {% if raw_file_format == 'zrecord' %}
    {{ return(raw_file_format) }}
  {% endif %}
  {{ return(dbt.dbt_spark_validate_get_file_format(raw_file_format)) }}
{% endmacro %}

{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) %}
  {% if file_format == 'zrecord' and raw_strategy == 'merge' %}
    {{ return(raw_strategy) }}
  {% endif %}
  {{ return(dbt.dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format)) }}
{% endmacro %}

{# Replaces a table in one step: readers see the old rows or the new ones. #}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') %}
  {% set create = dbt.spark__create_table_as(temporary, relation, compiled_code, language) %}
  {% if is_zrecord() and not temporary and language == 'sql' %}
    {% set create = create | replace('create table ', 'create or replace table ', 1) %}
  {% endif %}
  {{ return(create) }}
{% endmacro %}

{% materialization table, adapter='spark', supported_languages=['sql', 'python'] %}
  {% if not is_zrecord() %}
    {{ return(dbt.materialization_table_spark()) }}
  {% endif %}

  {% set target_relation = this.incorporate(type='table') %}
  {% set old_relation = load_relation(this) %}
  {% set grant_config = config.get('grants') %}

  {{ run_hooks(pre_hooks) }}
  {% if old_relation is not none and 'Provider: zrecord' not in (old_relation.information or '') %}
    {% do adapter.drop_relation(old_relation) %}
  {% endif %}
  {% call statement('main', language=model['language']) %}
    {{ create_table_as(False, target_relation, compiled_code, model['language']) }}
  {% endcall %}
  {% do apply_grants(target_relation, grant_config, should_revoke(old_relation, True)) %}
  {% do persist_docs(target_relation, model) %}
  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{# Builds a full refresh as a table, which is not away meanwhile. #}
{% materialization incremental, adapter='spark', supported_languages=['sql', 'python'] %}
  {% if is_zrecord() and should_full_refresh() %}
    {{ return(materialization_table_spark()) }}
  {% endif %}
  {{ return(dbt.materialization_incremental_spark()) }}
{% endmaterialization %}

{# Takes the snapshots of dbt-core: those of dbt-spark ask for file formats that they know. #}
{% materialization snapshot, adapter='spark' %}
  {% if is_zrecord() %}
    {{ return(dbt.materialization_snapshot_default()) }}
  {% endif %}
  {{ return(dbt.materialization_snapshot_spark()) }}
{% endmaterialization %}

{% macro spark__get_or_create_relation(database, schema, identifier, type) %}
  {{ return(dbt.default__get_or_create_relation(none, schema, identifier, type)) }}
{% endmacro %}

{% macro spark__post_snapshot(staging_relation) %}
  {% if is_zrecord() %}
    {% do run_query('drop view if exists ' ~ staging_relation) %}
  {% else %}
    {% do dbt.spark__post_snapshot(staging_relation) %}
  {% endif %}
{% endmacro %}

{% macro spark__create_columns(relation, columns) %}
  {% if is_zrecord() %}
    {% do spark__alter_relation_add_remove_columns(relation, columns, []) %}
  {% else %}
    {% do dbt.spark__create_columns(relation, columns) %}
  {% endif %}
{% endmacro %}

{% macro spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns) %}
  {% if not is_zrecord() %}
    {{ return(dbt.spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns)) }}
  {% endif %}
  {% if add_columns %}
    {% set columns = [] %}
    {% for column in add_columns %}
      {% do columns.append(adapter.quote(column.name) ~ ' ' ~ column.data_type) %}
    {% endfor %}
    {% do run_query('alter table ' ~ relation ~ ' add columns (' ~ columns | join(', ') ~ ')') %}
  {% endif %}
  {% if remove_columns %}
    {% set drop = 'drop columns (' ~ remove_columns | map(attribute='quoted') | join(', ') ~ ')' %}
    {% do run_query('alter table ' ~ relation ~ ' ' ~ drop) %}
  {% endif %}
{% endmacro %}

{% macro spark__alter_column_comment(relation, column_dict) %}
  {% if not is_zrecord() %}
    {{ return(dbt.spark__alter_column_comment(relation, column_dict)) }}
  {% endif %}
  {% for name, column in column_dict.items() if column['description'] %}
    {% set text = column['description'] | replace('\\', '\\\\') | replace("'", "\\'") %}
    {% do run_query("alter table " ~ relation ~ " alter column " ~ adapter.quote(name) ~ " comment '" ~ text ~ "'") %}
  {% endfor %}
{% endmacro %}
