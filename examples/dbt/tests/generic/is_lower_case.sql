{% test is_lower_case(model, column_name) %}
select {{ column_name }}
from {{ model }}
where {{ column_name }} <> lower({{ column_name }})
{% endtest %}
