"""`{command-help}`: the help of every command of `mag`, from the same source as `mag COMMAND --help`."""

import inspect
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from mag.commands import COMMANDS, application, function_of
from mag.commands._app import TOPICS, describe
from mag.methods import METHODS


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def _option(option: Any) -> tuple[str, str]:
    """The words of an option, and its help."""
    words = ", ".join(f"`{word}`" for word in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.metavar or 'VALUE'}`"
    text = (option.help or "") + (" Required." if option.required else "")
    if isinstance(option.default, (str, int, float)) and not isinstance(option.default, bool):
        text += f" Default: `{option.default}`."
    return words + value, _cell(text)


def help_of(name: str, command: Any) -> list[str]:
    """Markdown about a command."""
    text, below = describe(function_of(name))
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = ["mag", name, "[OPTIONS]", *(argument.metavar or argument.name.upper() for argument in arguments)]
    lines = [f"## mag {name}", "", text, "", "```", " ".join(usage), "```", ""]
    examples = re.findall(r"^mag .*$", below, re.M)
    if examples:
        lines += ["Examples:", "", "```", *examples, "```", ""]
    panels: dict[str, list[Any]] = {}
    for option in command.params:
        if option not in arguments:
            panels.setdefault(option.rich_help_panel or "Options", []).append(option)
    lines += ["| option | |", "|---|---|"]
    for panel, options in panels.items():
        lines.append(f"| **{panel}** | |")
        lines += [f"| {words} | {what} |" for words, what in map(_option, options)]
    if "Methods" in below:
        lines += ["", "[Methods](../methods/index.md): one of", "", *(f"- {line}" for line in _methods(below))]
    return [*lines, ""]


def _methods(below: str) -> list[str]:
    """The families of methods, each name a link."""
    families = [line for line in below.partition("Methods (-m):")[2].split("\n\n") if line.strip()]

    def link(match: re.Match[str]) -> str:
        name = match[1]
        return f"[`{name}`](../methods/{name}.md)" if name in METHODS else name

    return [re.sub(r"\b([a-z]\w+)\b(?=[,.])", link, family) for family in families]


class Commands(SphinxDirective):
    """The help of all commands, in the order of `mag --help`."""

    def run(self) -> list[nodes.Node]:
        """A section a command."""
        group = application()
        for name in COMMANDS:
            self.env.note_dependency(inspect.getfile(function_of(name)))
        lines = [line for names in TOPICS.values() for name in names for line in help_of(name, group.commands[name])]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("command-help", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
