"""The report of a release of `mag.distributed.microaggregate`: counts of the whole table, figures of some groups."""

import pickle
import re

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import mag
import mag.distributed
from mag.tables import group_sample

MASKED = ["age", "income", "height"]


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def people(n=3000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 90, n),
            "income": rng.lognormal(3, 1, n),
            "height": rng.normal(170, 10, n).astype(np.float32),
            "ward": rng.choice(["north", "south"], n),
            "person": rng.integers(0, n // 2, n),
        }
    )


def release_of(table, partitions=3, k=5, **options):
    return mag.distributed.microaggregate(dd.from_pandas(table, npartitions=partitions, sort=False), k, **options)


def sampled(release):
    """The labels of the sample, and its records before and after."""
    sample = release._sample
    sides = [pd.concat(map(pd.DataFrame, tables), ignore_index=True) for tables in (sample.before, sample.after)]
    return np.concatenate(sample.labels), *sides


def text_of(release, path, audience):
    page = release.report(path, audience=audience).read_text(encoding="utf-8")
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", page)


def test_a_report_has_the_counts_of_the_whole_and_the_figures_of_whole_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(group_sample, "MAX_SAMPLED_RECORDS", 600)
    release = release_of(people(), by="ward", drop="person", parts=4)
    labels, before, after = sampled(release)
    assert 300 < labels.size < 900
    groups = after.assign(label=labels).groupby("label")
    assert (groups.nunique() == 1).all(axis=None)
    published = release.data.compute().astype(dict.fromkeys(MASKED, float)).value_counts(MASKED)
    assert after.value_counts(MASKED).equals(published[after.value_counts(MASKED).index])  # so no group is cut
    np.testing.assert_allclose(before.groupby(labels).mean()["income"], groups["income"].first())
    page = release.report(tmp_path / "r.html", about={"Data": "survey"}).read_text(encoding="utf-8")
    assert "survey" in page
    assert f"{labels.size} of 3000 records, in whole groups" in page
    assert "Records published</dt><dd>3\N{NARROW NO-BREAK SPACE}000</dd>" in page
    assert f"Groups</dt><dd>{release.n_groups}</dd>" in page
    assert f"smallest class {release.smallest} of 3000 records" in page
    with pytest.raises(FileExistsError):
        release.report(tmp_path / "r.html")


def test_a_sample_that_is_the_table_has_its_figures():
    table = people()
    release = release_of(table, by="ward", drop="person")
    facts = release._sample.facts(release.guarantee, release._manifest, None, {}, lambda done: None)
    wanted = mag.metrics.information_loss(table[MASKED], release.data.compute()[MASKED])
    assert facts.utility["information_loss"] == pytest.approx(wanted)
    assert wanted == pytest.approx(release.information_loss, rel=0.01)  # which is that of means not yet rounded
    assert facts.risk["k_anonymity"] == release.smallest == release.guarantee.smallest
    assert "Sample" not in facts.about
    pairs = [facts.original, table], [facts.masked, release.data.compute()]
    for found, wanted in pairs:
        for name in MASKED:
            np.testing.assert_array_equal(np.sort(found[name]), np.sort(wanted[name].to_numpy(float)))


def test_the_sample_does_not_depend_on_partitions(monkeypatch):
    monkeypatch.setattr(group_sample, "MAX_SAMPLED_RECORDS", 600)
    samples = [sampled(release_of(people(), number, by="ward", drop="person", parts=1)) for number in (1, 2, 7)]
    for labels, before, after in samples[1:]:
        assert labels.tobytes() == samples[0][0].tobytes()
        pd.testing.assert_frame_equal(before, samples[0][1], check_exact=True)
        pd.testing.assert_frame_equal(after, samples[0][2], check_exact=True)


def test_records_and_units_of_the_smallest_class_are_counted(tmp_path):
    release = release_of(people(), by="ward", unit="person", parts=4)
    assert release.guarantee.smallest_units == release.smallest >= 5
    counts = release.data.compute().value_counts(["ward", *MASKED])
    assert release.guarantee.smallest == counts.min() >= release.smallest
    page = release.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"At least {release.smallest} units (person) share each published combination" in page


def test_an_external_page_is_that_of_any_original_of_the_release(tmp_path):
    """Records around the same means, near to them or farther off."""
    centers = np.repeat([[0.0, 0.0], [1000.0, 0.0], [0.0, 1000.0], [1000.0, 1000.0]], 3, axis=0)
    steps = np.tile([[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0]], (4, 1))
    near, far = (release_of(pd.DataFrame(centers + size * steps, columns=["a", "b"]), 2, 3) for size in (1, 8))
    pd.testing.assert_frame_equal(near.data.compute(), far.data.compute(), check_exact=True)
    external, other = (text_of(one, tmp_path / f"{i}.html", "external") for i, one in enumerate((near, far)))
    internal, another = (text_of(one, tmp_path / f"{i}i.html", "internal") for i, one in enumerate((near, far)))
    assert external == other
    assert internal != another
    assert "Information loss" in internal
    assert "Information loss" not in external


def test_copies_hold_no_originals_and_large_groups_no_sample(tmp_path, monkeypatch):
    release = release_of(people(), by="ward", drop="person")
    assert "_sample" not in repr(release)
    copy = pickle.loads(pickle.dumps(release))
    assert copy._sample is None
    assert copy.guarantee == release.guarantee
    with pytest.raises(mag.InputRuntimeError, match=r"^report needs the release that mag\.distributed.* not a copy\.$"):
        copy.report(tmp_path / "r.html")
    monkeypatch.setattr(group_sample, "MAX_SAMPLED_RECORDS", 1)
    release = release_of(people(), by="ward", drop="person", k=700)
    with pytest.raises(mag.InputRuntimeError, match=r"about 1 of 3000 records; none was drawn, .*: there are \d\.$"):
        release.report(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())
