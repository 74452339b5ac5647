"""`mag.multivariate` as an estimator of scikit-learn."""

from typing import Any, cast

import numpy as np

from mag._compiled.groups import Groups
from mag._lib.arrays import read
from mag._lib.checks import describe, integer, one_of, same_rows, thread_count, weights_for
from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.floats import deviations, exponents, scaled
from mag.api.method import number_groups
from mag.api.multivariate import multivariate
from mag.api.types import BackendName, MethodName
from mag.enforce import ENFORCE, Constraint, enforce
from mag.methods import METHODS
from mag.methods.distances.standard import center_columns
from mag.results import published
from mag.table import Promise, constrain_values, recount_promises

try:
    from scipy.spatial import KDTree
    from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("mag.Microaggregator needs scikit-learn 1.6 or newer; pip install 'mag-sdc[sklearn]'.") from error

FAR = 2.0**500  # in units of a column; squares of it can be summed


class Microaggregator(OneToOneFeatureMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Put records into groups of at least k and replace each by the mean of its group.

    ``fit_transform(X)`` is the k-anonymous release of X: every row of it occurs at least k times.  That holds for X
    only.  ``transform(X_new)`` gives every record the nearest representative of the release, so that models fitted on
    masked records can predict for new ones; it publishes no value that is not published already, but fewer than k of
    the new records may share a row, and such a row reveals which representative its record is nearest to.  To release
    new records, group them: ``clone(estimator).fit_transform(X_new)``.

    ``fit(X).transform(X)`` is not ``fit_transform(X)``, as for `sklearn.preprocessing.TargetEncoder`: groups have at
    least k records, so the nearest representative of a record is not always that of its own group.

    Diversity and closeness are promises about the records that `fit` saw, published as ``fit_transform`` masks them
    beside the sensitive values that `fit` was passed.  Nothing is promised of new records: `transform` may give all
    records with one disease the same representative.

    Parameters
    ----------
    k : int
        The smallest group size, from 1 to the number of records.
    method : str
        How to group, see `mag.multivariate`.
    standardize : bool
        Measure each column in its standard deviations.
    backend : {"auto", "cpu"}
        Where to compute.
    threads : int, optional
        The number of threads; all processors by default.  The result does not depend on it.
    n_jobs : int, optional
        The same as scikit-learn counts it: -1 is all processors, -2 all but one.  One of `threads` and `n_jobs` may be
        set.
    random_state : int, numpy.random.Generator, numpy.random.RandomState
        Seeds the methods that draw random numbers; None is 0 too.  Other methods ignore it.
    diversity : int or tuple, optional
        How many different sensitive values every group must hold, or another criterion: see `mag.microaggregate`.  The
        values themselves are for `fit`.
    closeness : float or mag.Closeness, optional
        How far the distribution of the sensitive values in a group may be from that of all records.
    enforce : {"auto", "buckets", "merge", "swap"}
        How to meet both, see `mag.microaggregate`.
    time_limit : float, optional
        Seconds after which the best grouping so far is taken; `complete_` is then False.
    options : dict, optional
        Options of the method, such as ``{"gamma": 0.2}``.

    Attributes
    ----------
    labels_ : array of int32, shape (n_samples,)
        The group of each record; groups are numbered in the order of their first records.
    cluster_centers_ : array, shape (n_groups, n_features)
        The representatives in the units of the data: all that is published.
    sizes_ : array of int, shape (n_groups,)
        The number of records in each group, at least k.
    n_groups_ : int
        The number of groups.
    information_loss_ : float
        SSE / SST, in standard deviations with ``standardize=True``.
    scale_ : array, shape (n_features,), or None
        The standard deviations that `transform` measures by; None with ``standardize=False``.
    method_ : str
        The method that found the groups.
    complete_ : bool
        False if `time_limit` ended the search.
    details_ : dict
        What the method reports besides the groups.
    promises_ : list of mag.table.Promise
        Diversity and closeness, as counted on the masked records beside their sensitive values.
    n_features_in_ : int
        The number of columns that `fit` saw.
    feature_names_in_ : array of str
        Their names, where X had any.

    Notes
    -----
    A fitted estimator holds no records, only the attributes above, so its pickle reveals what the release does, the
    columns' standard deviations, and who is in which group (`labels_`).

    NaN, infinity and sparse matrices are refused.  Arrays of other libraries come back as NumPy's; `mag.multivariate`
    stays in the library of its input.

    Examples
    --------
    >>> import mag
    >>> people = [[31.5, 170], [52.0, 181], [30.9, 168], [33.2, 173], [29.8, 165], [55.1, 185], [50.1, 179]]
    >>> estimator = mag.Microaggregator(k=3)
    >>> estimator.fit_transform(people)[:3].round(2)
    array([[ 31.35, 169.  ],
           [ 52.4 , 181.67],
           [ 31.35, 169.  ]])
    >>> estimator.sizes_
    array([4, 3])
    >>> estimator.transform([[45.0, 180]]).round(2)
    array([[ 52.4 , 181.67]])
    """

    def __init__(
        self,
        k: int = 5,
        *,
        method: MethodName = "auto",
        standardize: bool = True,
        backend: BackendName = "auto",
        threads: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        diversity: Any = None,
        closeness: Any = None,
        enforce: str = "auto",
        time_limit: float | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.standardize = standardize
        self.backend = backend
        self.threads = threads
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.diversity = diversity
        self.closeness = closeness
        self.enforce = enforce
        self.time_limit = time_limit
        self.options = options

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, sensitive: Any = None) -> "Microaggregator":
        """Group the records of X.

        Parameters
        ----------
        X : array-like of real numbers, shape (n_samples, n_features)
            The records; neither NaN nor infinity.
        y : ignored
            For pipelines.
        sample_weight : array-like, shape (n_samples,), optional
            How much records count in the means of their groups, and in `information_loss_`.  Groups count records, and
            do not depend on weights.  A record that outweighs the rest of its group is published nearly unchanged.
        sensitive : array-like, shape (n_samples,), optional
            The values that `diversity` and `closeness` are about.

        Returns
        -------
        Microaggregator
            Itself.
        """
        values = self._table(X, reset=True)
        k = integer("k", self.k, 1, len(values), "n_samples")
        weights = None if sample_weight is None else _weights(sample_weight, len(values))
        constraints, seed = self._constraints(sensitive, len(values)), self.random_state
        grouping = multivariate(
            values,
            k,
            method=cast(MethodName, one_of("method", self.method, ["auto", *METHODS])),
            standardize=self.standardize,
            backend=self.backend,
            threads=self._threads(),
            random_state=int(seed.randint(2**31)) if isinstance(seed, np.random.RandomState) else seed,
            time_limit=self.time_limit,
            **self._options(),
        )
        self.labels_ = grouping.labels
        self.cluster_centers_ = grouping.representatives
        self.sizes_ = grouping.sizes
        self.n_groups_ = grouping.n_groups
        self.information_loss_ = grouping.information_loss
        self.method_, self.complete_, self.details_ = grouping.method, grouping.complete, grouping.details
        self.scale_ = _deviations(values) if self.standardize else None
        if constraints:
            self._enforce(values, k, constraints)
            weights = np.ones(len(values)) if weights is None else weights
        if weights is not None:
            self.cluster_centers_ = published(_means(values, self.labels_, self.sizes_, weights), values.dtype)
            self.information_loss_ = self._weighted_loss(values, weights)
        self.promises_ = self._recount(sensitive) if constraints else []
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, sensitive: Any = None) -> Any:
        """Group the records of X and replace each by the mean of its group: the k-anonymous release.

        Parameters
        ----------
        X : array-like of real numbers, shape (n_samples, n_features)
            The records; neither NaN nor infinity.
        y : ignored
            For pipelines.
        sample_weight, sensitive : array-like, shape (n_samples,), optional
            See `fit`.

        Returns
        -------
        array, shape (n_samples, n_features)
            The masked records, each at least k times; floats of the type of X, float64 for integers.
        """
        self.fit(X, sample_weight=sample_weight, sensitive=sensitive)
        return self.cluster_centers_[self.labels_]

    def transform(self, X: Any) -> Any:
        """Replace each record by the nearest representative; no guarantee is made for the result.

        Parameters
        ----------
        X : array-like of real numbers, shape (n_samples, n_features)
            The records, whether `fit` saw them or not.

        Returns
        -------
        array, shape (n_samples, n_features)
            Rows of `cluster_centers_`.
        """
        nearest = self.predict(X)
        return self.cluster_centers_[nearest]

    def predict(self, X: Any) -> Any:
        """Find the nearest representative of each record.

        ``fit(X).predict(X)`` is not `labels_`: the nearest representative is not always that of a record's own group.

        Parameters
        ----------
        X : array-like of real numbers, shape (n_samples, n_features)
            The records, whether `fit` saw them or not.

        Returns
        -------
        array of int32, shape (n_samples,)
            Rows of `cluster_centers_`.
        """
        check_is_fitted(self)
        values = self._table(X, reset=False)
        tree = KDTree(self._measure(self.cluster_centers_))
        return tree.query(self._measure(values), workers=self._threads())[1].astype(np.int32)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32", "float16"]
        return tags

    def _table(self, X: Any, reset: bool) -> np.ndarray:
        """X as scikit-learn checks it; NumPy's, also where its array API dispatch would keep another library's."""
        try:
            return read("X", validate_data(self, X, dtype="numeric", reset=reset))[0]
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
        # NumPy's sentence quotes the value, and so would the error's context
        raise ValueMistake("X must hold real numbers; got strings, encode or leave out their columns first.")

    def _threads(self) -> int:
        """As `threads` or `n_jobs` say."""
        if self.n_jobs is None:
            return thread_count("threads", self.threads)
        if self.threads is not None:
            raise ValueMistake(f"n_jobs must be None where threads is set; got n_jobs={describe(self.n_jobs)}.")
        every = thread_count("n_jobs", None)
        jobs = integer("n_jobs", self.n_jobs, -every, 2**31, "most")
        if jobs == 0:
            raise ValueMistake("n_jobs must be positive, or count from -1 down, all processors; got 0.")
        return jobs if jobs > 0 else every + 1 + jobs

    def _constraints(self, sensitive: Any, n: int) -> list[Constraint]:
        """What the groups must satisfy; sensitive values without a criterion, and the reverse, are a mistake."""
        one_of("enforce", self.enforce, ["auto", *ENFORCE])
        demanded = [name for name in ("diversity", "closeness") if getattr(self, name) is not None]
        if (sensitive is None) == bool(demanded):
            without = (
                f"{demanded[0]} needs" if demanded else "sensitive is not used without diversity or closeness; got"
            )
            raise ValueMistake(f"{without} sensitive values{', pass them to fit' if demanded else ''}.")
        if sensitive is None:
            return []
        constraints = constrain_values("sensitive", sensitive, self.diversity, self.closeness)
        same_rows("sensitive", constraints[0].codes.size, "X", n)
        return constraints

    def _enforce(self, values: np.ndarray, k: int, constraints: list[Constraint]) -> None:
        z, everybody = center_columns(values, self.standardize).z, [np.arange(len(values))]
        enforced = enforce(z, k, self.labels_.astype(np.int64), everybody, constraints, self.enforce)
        labels, self.n_groups_ = number_groups(enforced.labels, len(values))
        self.labels_, self.sizes_ = labels, np.bincount(labels)
        self.method_ = ", ".join([self.method_, *enforced.ways])

    def _recount(self, sensitive: Any) -> list[Promise]:
        """Counted on the masked records, column by column, beside the sensitive values."""
        columns = {f"column {j}": column for j, column in enumerate(self.cluster_centers_[self.labels_].T)}
        wishes = [None if wish is None else {"sensitive": wish} for wish in (self.diversity, self.closeness)]
        counted = recount_promises({**columns, "sensitive": sensitive}, list(columns), *wishes)
        return [promise.require() for promise in counted]

    def _weighted_loss(self, values: np.ndarray, weights: np.ndarray) -> float:
        """SSE / SST, records as they count."""
        z, centers = self._measure(values), self._measure(self.cluster_centers_)
        share = (weights / weights.max())[:, None]
        total = float((share * np.square(z - (share * z).sum(axis=0) / share.sum())).sum())
        return float((share * np.square(z - centers[self.labels_])).sum()) / total if total else 0.0

    def _options(self) -> dict[str, Any]:
        """Options of the method; what is a parameter is not set twice."""
        if self.options is None:
            return {}
        if not isinstance(self.options, dict):
            raise TypeMistake(f"options must be a dict or None; got {describe(self.options)}.")
        for name in self.options:
            if name in (*self._get_param_names(), "X", "progress"):
                raise TypeMistake(f"options must hold options of the method only; got {name!r}.")
        return self.options

    def _measure(self, values: np.ndarray) -> np.ndarray:
        """Columns in units of `scale_` from the first representative, as float64; constant ones do not count."""
        centers = self.cluster_centers_.astype(np.float64)
        scale = np.full(centers.shape[1], np.abs(centers).max()) if self.scale_ is None else self.scale_
        mantissa, power = np.frexp(scale)
        with np.errstate(over="ignore"):
            away = np.ldexp(values.astype(np.float64), -power) - np.ldexp(centers[0], -power)
        away = np.clip(away, -FAR, FAR)  # a record farther out is equally far from all representatives, in float64
        return np.divide(away, mantissa, out=np.zeros_like(away), where=mantissa > 0)


def _weights(sample_weight: Any, n: int) -> np.ndarray:
    """As scikit-learn takes them: a number is the weight of all."""
    weights = read("sample_weight", sample_weight)[0]
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    return weights_for(weights, n, "record, n_samples", "sample_weight").astype(np.float64)


def _means(values: np.ndarray, labels: np.ndarray, sizes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted mean of each group; records of a group without any weight count alike."""
    order, starts = np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes
    columns = values.astype(np.float64) if values.dtype.kind == "f" else values
    groups = [Groups.unsorted(column[order], starts, weights[order]) for column in columns.T]
    return np.column_stack([one.placed(one.mean()) for one in groups])


def _deviations(values: np.ndarray) -> np.ndarray:
    """The standard deviation of each column, whatever its magnitude."""
    table = values.astype(np.float64)
    return np.ldexp(deviations(scaled(table)[0]), exponents([table], True))
