"""Groups whose sensitive values satisfy criteria of diversity and closeness.  Each way to get there is a file.

`exchange`, `merge` and `swap` repair groups that were made without the criteria; `buckets` and `cut` make new groups:
the one draws records from every part of the sensitive values, the other cuts parts that satisfy the criteria.
Merging is the last step of all others, so that every criterion holds in the end.
"""

from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.enforce._enforce import Enforced, enforce, is_affordable, warm_up
from mag.tables.criteria.enforce.buckets import group_by_buckets
from mag.tables.criteria.enforce.cut import cut_groups
from mag.tables.criteria.enforce.exchange import exchange_groups
from mag.tables.criteria.enforce.merge import merge_groups
from mag.tables.criteria.enforce.swap import swap_records

__all__ = ["Constraint", "Enforced", "enforce", "is_affordable", "warm_up"]

ENFORCE = {
    "buckets": group_by_buckets,
    "cut": cut_groups,
    "exchange": exchange_groups,
    "merge": merge_groups,
    "swap": swap_records,
}
