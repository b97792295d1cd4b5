select i.image_id
from {{ ref('images') }} i
left anti join {{ ref('labels') }} l on l.image_id = i.image_id
