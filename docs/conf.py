"""How Sphinx builds the documentation: `sphinx-build -W --keep-going docs build/docs`.

Everything that a page needs is in its folder: the extension `offline` refuses a script, style sheet, font or picture
from elsewhere.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import mag

project = "mag"
author = "The mag authors"
copyright = "The mag authors, BSD-3-Clause"  # noqa: A001 - what Sphinx calls it
version = release = mag.__version__

extensions = [
    "myst_nb",  # Markdown and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "commands",  # the help of the command line
    "examples",  # without the blank line that ends a doctest
    "methods",  # facts and picture of a method
    "offline",
]

# ---- Markdown and notebooks
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # they were executed when they were saved, and tests run them
highlight_language = "none"
smartquotes = False  # options are copied from here

# ---- docstrings
autodoc_typehints = "none"  # the docstrings say what arguments are, in words
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "py:obj"

# ---- the pages
html_theme = "furo"
html_title = f"mag {version}"
html_static_path = ["_static"]
html_css_files = ["mag.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "source_repository": "https://github.com/mag-sdc/mag",
    "source_branch": "main",
    "source_directory": "docs/",
}
