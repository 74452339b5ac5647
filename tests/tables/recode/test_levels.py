"""`levels=`: fixed levels of hierarchies, and the least and largest ones."""

import itertools

import pytest

import mag
from mag.commands.cli import main

PEOPLE = {
    "age": [31, 34, 38, 52, 55, 57, 33, 58],
    "job": ["nurse", "cook", "smith", "cook", "baker", "nurse", "nurse", "cook"],
}
TREES = {
    "age": mag.Hierarchy.intervals(20, 60, [5, 20]),
    "job": mag.Hierarchy.flat(["nurse", "cook", "smith", "baker"]),
}


def recode(k=2, **options):
    return mag.generalize(PEOPLE, k, ["age", "job"], hierarchies=TREES, **{"max_suppressed": 0, **options})


def test_a_fixed_level_is_published():
    for level in range(3):
        release = recode(levels={"age": level}, max_suppressed=1)
        assert release.levels["age"] == level
        assert all(node.levels["age"] == level for node in release.lattice)
    assert recode(levels={"age": 2}).data["age"].tolist() == ["[20, 60)"] * 8


def test_the_best_within_bounds_is_the_best_of_the_fixed_ones():
    """Suppressed records count, too, and show the most general label whatever the bounds."""
    for low, high in itertools.combinations_with_replacement(range(3), 2):
        bounded = recode(levels={"age": (low, high)}, max_suppressed=0.5)
        losses = []
        for level in range(low, high + 1):
            try:
                losses.append(recode(levels={"age": level}, max_suppressed=0.5).lattice[0].loss)
            except mag.InputValueError:
                continue
        assert low <= bounded.levels["age"] <= high
        assert bounded.lattice[0].loss == min(losses)
        assert mag.verify.recount(bounded.data, ["age", "job"]) >= 2


def test_the_command(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("age,job\n" + "".join(f"{a},{b}\n" for a, b in zip(*PEOPLE.values(), strict=True)))
    words = ["-k", "2", "-c", "age", "-c", "job", "--intervals", "age=20:60:5,20", "--level", "age=1:2", "--dry-run"]
    assert main(["generalize", str(source), *words]) == 0
    assert "age 1" in capsys.readouterr().out
    assert main(["generalize", str(source), *words, "--level", "job=x"]) == 2
    assert "--level must be NAME=LEVEL or NAME=LEAST:LARGEST; got 'job=x'." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ({"age": 4}, "levels['age'] must be levels of its hierarchy, from 0 to 2; got 4."),
        ({"age": (2, 1)}, "levels['age'] must be levels of its hierarchy, from 0 to 2; got (2, 1)."),
        ({"age": "2"}, "levels['age'] must be a level or the least and the largest one; got '2'."),
        ({"sex": 1}, "levels must name columns that are recoded; got 'sex'"),
        (2, "levels must be a dictionary by column; got 2."),
    ],
)
def test_mistakes_are_one_sentence(levels, sentence):
    with pytest.raises(mag.InputError) as error:
        recode(levels=levels)
    assert str(error.value).startswith(sentence)
