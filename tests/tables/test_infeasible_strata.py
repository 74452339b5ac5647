"""A diversity that cannot be met in one stratum: it is named by size and rank, and withheld on request."""

import numpy as np
import polars as pl
import pytest

import mag
from mag.commands.cli import main

REGION = ["a"] * 12 + ["b"] * 8 + ["c"] * 10
DISEASE = ["flu", "cold", "cough"] * 4 + ["flu"] * 8 + ["cold", "flu"] * 5
TABLE = {"age": np.arange(30), "region": REGION, "disease": DISEASE}
SENTENCE = (
    "diversity of 'disease' cannot be met in 1 of 3 strata, not even by one group of each, which reaches 1 in the "
    "worst, of 8 records, number 3 by size; pass {} to withhold such strata, or use fewer strata or a weaker diversity."
)


def test_the_stratum_is_named_by_its_size_and_rank():
    with pytest.raises(mag.InputValueError) as refused:
        mag.microaggregate(TABLE, 3, "age", by="region", diversity={"disease": 2})
    assert str(refused.value) == SENTENCE.format("small_strata='suppress'")


def test_such_strata_are_withheld_on_request():
    release = mag.microaggregate(TABLE, 3, "age", by="region", diversity={"disease": 2}, small_strata="suppress")
    assert release.guarantee.withheld == 8
    assert set(release.data["region"]) == {"a", "c"}
    assert release.guarantee.diversity["disease"].counted >= 2
    assert release.withheld_rows().tolist() == list(range(12, 20))


def test_what_the_whole_table_cannot_meet_stays_an_error():
    with pytest.raises(mag.InputValueError, match="diversity"):
        mag.microaggregate(TABLE, 3, "age", by="region", diversity={"disease": 4}, small_strata="suppress")


def test_the_command_line_speaks_its_own_language(tmp_path, capsys):
    pl.DataFrame(TABLE).write_csv(tmp_path / "in.csv")
    given = ["mask", str(tmp_path / "in.csv"), "--dry-run", "-k", "3", "-c", "age", "--by", "region"]
    assert main([*given, "--diversity", "disease=2"]) == 2
    complained = " ".join(capsys.readouterr().err.split())
    assert complained == f"mag: {SENTENCE.format('--small-strata suppress')}"
    assert main([*given, "--diversity", "disease=2", "--small-strata", "suppress"]) == 0
