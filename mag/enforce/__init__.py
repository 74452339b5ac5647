"""Groups whose sensitive values satisfy criteria of diversity and closeness.  Each way to get there is a file.

`merge` repairs groups that were made without the criteria; `buckets` makes groups of its own, which draw records from
every part of the sensitive values.  Merging is the last step of both, so that every criterion holds in the end.
"""

from mag.enforce._constraint import Constraint
from mag.enforce._enforce import Enforced, enforce
from mag.enforce.buckets import group_by_buckets
from mag.enforce.merge import merge_groups

__all__ = ["Constraint", "Enforced", "enforce"]

ENFORCE = {"buckets": group_by_buckets, "merge": merge_groups}
