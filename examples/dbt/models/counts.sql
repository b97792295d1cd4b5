select label, count(*) photos from {{ ref('labels') }} group by label
