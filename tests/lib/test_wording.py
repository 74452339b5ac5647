"""Options in the words of the caller: keywords, or options of the command that runs; user words stay as they are."""

import pytest

import mag
from mag._lib.errors import InputError
from mag._lib.wording import named, spelling
from mag.commands import cli


def test_without_a_command_options_are_keywords():
    assert named("small_strata", "merge", "suppress") == "small_strata='merge' or 'suppress'"
    with pytest.raises(InputError, match="time_limit must be"):
        mag.multivariate([[0.0, 1.0]] * 9, 3, method="ona", time_limit=-1)


def test_a_command_names_its_own_options():
    with spelling(cli._spell_for("mask")):
        assert named("small_strata", "merge", "suppress") == "--small-strata merge or --small-strata suppress"
        assert (named("random_state"), named("overwrite", True), named("time_limit")) == (
            "--seed",
            "--overwrite",
            "--time-limit",
        )
        assert named("k") == "-k"
        assert named("draw", True) == "draw=True"  # no option of this command
    assert named("random_state") == "random_state"


def test_prose_is_not_rewritten(tmp_path, capsys):
    """A column may be named like an option: sentences about it are printed as they are."""
    path = tmp_path / "in.csv"
    path.write_text("small_strata,time_limit\n1,2\n3,4\n5,6\n")
    assert cli.main(["mask", str(path), "-o", str(tmp_path / "o.csv"), "-k", "2", "-c", "small_strata"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'time_limit'" in said
    assert "--time-limit" not in said
