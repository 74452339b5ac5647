"""The steps from a raw file to a release, in their order; each is a file, called like the last part of its address.

A step shows the content of its page (`show`) and takes what a form sends (`take`), which returns the step to go to.
"""

from types import ModuleType

from mag.app.steps import choose, hierarchies, publish, result, risk, roles
from mag.app.steps import open as open_

STEP_MODULES: dict[str, ModuleType] = {
    "open": open_,
    "roles": roles,
    "risk": risk,
    "hierarchies": hierarchies,
    "choose": choose,
    "result": result,
    "publish": publish,
}
ORDER = list(STEP_MODULES)
TITLES = {name: name.capitalize() for name in ORDER} | {"risk": "Risk before"}
