"""Arrays of the real CuPy, and of libraries that share its memory: what comes in, and what goes out."""

import pickle

import numpy as np
import pytest

import mag
from mag._lib import arrays

pytestmark = pytest.mark.gpu

X = np.random.default_rng(0).normal(size=(30, 3))


def test_an_estimator_reads_arrays_on_a_device(cupy):
    weights = np.arange(1.0, 31.0)
    for options in ({}, {"sample_weight": weights}):
        expected = mag.Microaggregator(3).fit_transform(X, **options)
        far = {name: cupy.asarray(array) for name, array in options.items()}
        estimator = mag.Microaggregator(3)
        found = estimator.fit_transform(cupy.asarray(X), **far)
        assert type(found) is np.ndarray
        assert np.array_equal(found, expected)
        assert np.array_equal(estimator.transform(cupy.asarray(X[:4])), estimator.transform(X[:4]))
        assert np.array_equal(estimator.predict(cupy.asarray(X[:4])), estimator.predict(X[:4]))
