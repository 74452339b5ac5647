"""`pytest -p tests.cuda.edited`: one file of mag as $MAG_EDIT says, a list of its name, a text in it and another."""

import importlib.machinery
import json
import os
import sys


class EditedLoader(importlib.machinery.SourceFileLoader):
    """Compiles the edited text, and keeps nothing of it."""

    old, new = "", ""

    def get_code(self, fullname):
        text = self.get_data(self.path).decode()
        assert text.count(self.old) == 1, f"{text.count(self.old)} times in {self.path}: {self.old}"
        return compile(text.replace(self.old, self.new), self.path, "exec")


class EditedFinder:
    """Finds the module whose text is edited."""

    def __init__(self, name, old, new):
        self.name, self.old, self.new = name, old, new

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = EditedLoader(name, spec.origin)
        spec.loader.old, spec.loader.new = self.old, self.new
        return spec


if "MAG_EDIT" in os.environ:
    edited = EditedFinder(*json.loads(os.environ["MAG_EDIT"]))
    assert edited.name not in sys.modules
    sys.meta_path.insert(0, edited)
