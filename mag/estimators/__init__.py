"""`mag.multivariate` as an estimator of scikit-learn."""

import inspect
from collections.abc import Mapping
from typing import Any, Literal, cast

import numpy as np

from mag._lib.arrays import on_host, read
from mag._lib.checks import describe, integer, one_of, same_rows, thread_count
from mag._lib.errors import InputTypeError, InputValueError
from mag.api.multivariate import multivariate
from mag.api.table_options import DEFAULTS, ESTIMATOR, accepted
from mag.api.types import BackendName, MethodName
from mag.estimators import _frames, _numbers, _owners
from mag.methods import METHODS
from mag.results import as_data_dtype
from mag.tables import constrain_values
from mag.tables.criteria.enforce import ENFORCE
from mag.tables.types import Enforce

try:
    from scipy.spatial import KDTree
    from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("mag.Microaggregator needs scikit-learn 1.6 or newer; pip install 'mag-sdc[sklearn]'.") from error

CRITERIA = ("diversity", "closeness", "enforce")
OF_NUMBERS = (*CRITERIA, "k_household", *inspect.signature(multivariate).parameters)
OF_TABLES = [name for name in accepted(ESTIMATOR) if name not in OF_NUMBERS]  # parameters that need a frame


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
    together with the sensitive values passed to `fit`.  There is no promise about new records: `transform` may give all
    records with one disease the same representative.  The same holds for units: with ``fit(X, unit=people)``, k counts
    people instead of records.

    Parameters
    ----------
    k : int
        The smallest group size, from 1 to the number of records.
    n_jobs : int, optional
        The same as scikit-learn counts it: -1 is all processors, -2 all but one.  One of `threads` and `n_jobs` may be
        set.
    options : dict, optional
        Options of the method, such as ``{"gamma": 0.2}``.
    k_household : int, optional
        The smallest number of households of a group, where `fit` gets `household`; `k` by default.
    method : str
        How to group, see `mag.multivariate`.
    aggregate, hierarchies, order, importance : optional
        For pandas or polars frames with categories, as in `mag.microaggregate`, but hierarchies cannot be functions.
    diversity : int or tuple, optional
        How many different sensitive values every group must hold, or another criterion: see `mag.microaggregate`.  The
        values themselves are for `fit`.
    closeness : float or mag.Closeness, optional
        How far the distribution of the sensitive values in a group may be from that of all records.
    enforce : {"auto", "buckets", "cut", "exchange", "merge", "swap"}
        How to meet both, see `mag.microaggregate`.
    standardize : bool or "range"
        Measure each column in its standard deviations; "range", of frames with categories, numbers in their range.
    random_state : int, numpy.random.Generator, numpy.random.RandomState
        Seeds the methods that draw random numbers; None is 0 too.  Other methods ignore it.
    backend : {"auto", "cpu"}
        Where to compute.
    threads : int, optional
        The number of threads; all processors by default.  The result does not depend on it.
    time_limit : float, optional
        Seconds after which the best grouping so far is taken; `complete_` is then False.

    Attributes
    ----------
    labels_ : array of int32, shape (n_samples,)
        The group of each record; groups are numbered in the order of their first records.
    cluster_centers_ : array, shape (n_groups, n_features), or frame
        The representatives in the units of the data: only these are published.
    sizes_ : array of int, shape (n_groups,)
        The number of records in each group, at least k.
    smallest_units_, smallest_households_ : int
        Where `fit` got `unit` or `household`: the smallest number of units, at least k, and of households, at least
        `k_household`, whose records are masked alike, as counted on the masked records.
    n_groups_ : int
        The number of groups.
    information_loss_ : float
        SSE / SST, in standard deviations with ``standardize=True``.
    ncp_ : float
        In place of it, for frames with categories: the normalized certainty penalty.
    scale_ : array, shape (n_features,), or None
        The standard deviations that `transform` measures by; None with ``standardize=False``.  A dictionary for frames
        with categories.
    method_ : str
        The method that found the groups.
    complete_ : bool
        False if `time_limit` ended the search.
    details_ : dict
        Further results of the method.
    promises_ : list of mag.tables.Promise
        Diversity and closeness, as counted on the masked records with their sensitive values.
    n_features_in_ : int
        The number of columns that `fit` saw.
    feature_names_in_ : array of str
        Their names, where X had any.

    Notes
    -----
    A fitted estimator holds no records, only the attributes above, so its pickle reveals the release, the standard
    deviations of the columns, and the group of every record (`labels_`).

    Frames with columns of text, categories or booleans are masked by `mag.microaggregate`: `fit_transform` returns a
    frame.  `transform` compares values with published ancestors, modes and ranges as `mag.privacy.distance_linkage`
    does; a category that it has not seen is equally far from all of them, so that the other columns decide.

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
        n_jobs: int | None = None,
        options: dict[str, Any] | None = None,
        # options: written by tools.names from mag.api.table_options
        k_household: int | None = None,
        method: MethodName = "auto",
        aggregate: Any = None,
        hierarchies: Any = None,
        order: Any = None,
        importance: Any = None,
        diversity: Any = None,
        closeness: Any = None,
        enforce: Enforce = "auto",
        standardize: bool | Literal["range"] = True,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        backend: BackendName = "auto",
        threads: int | None = None,
        time_limit: float | None = None,
        # end of options
    ) -> None:
        self.k = k
        self.n_jobs = n_jobs
        self.options = options
        # options: written by tools.names from mag.api.table_options
        self.k_household = k_household
        self.method = method
        self.aggregate = aggregate
        self.hierarchies = hierarchies
        self.order = order
        self.importance = importance
        self.diversity = diversity
        self.closeness = closeness
        self.enforce = enforce
        self.standardize = standardize
        self.random_state = random_state
        self.backend = backend
        self.threads = threads
        self.time_limit = time_limit
        # end of options

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        sensitive: Any = None,
        unit: Any = None,
        household: Any = None,
    ) -> "Microaggregator":
        """Group the records of X.

        Parameters
        ----------
        X : array-like of real numbers, shape (n_samples, n_features), or frame
            The records; neither NaN nor infinity.
        y : ignored
            For pipelines.
        sample_weight : array-like, shape (n_samples,), optional
            How much records count in the means of their groups, and in `information_loss_`.  Groups count records, and
            do not depend on weights.  A record that outweighs the rest of its group is published nearly unchanged.
        sensitive : array-like, shape (n_samples,), optional
            The values that `diversity` and `closeness` are about.
        unit : array-like, shape (n_samples,), optional
            The person, household or firm of each record: k counts these, as in `mag.microaggregate`.
        household : array-like, shape (n_samples,), optional
            The household of each record: groups have records of at least `k_household` of them as well.

        Returns
        -------
        Microaggregator
            Itself.
        """
        self._fit(X, sample_weight, sensitive, {"unit": unit, "household": household})
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        sensitive: Any = None,
        unit: Any = None,
        household: Any = None,
    ) -> Any:
        """Group the records of X and replace each by the mean of its group: the k-anonymous release.

        Parameters
        ----------
        X : array-like of real numbers, shape (n_samples, n_features), or frame
            The records; neither NaN nor infinity.
        y : ignored
            For pipelines.
        sample_weight, sensitive, unit, household : array-like, shape (n_samples,), optional
            See `fit`.

        Returns
        -------
        array, shape (n_samples, n_features)
            The masked records, each at least k times; floats of the type of X, float64 for integers.
        """
        masked = self._fit(X, sample_weight, sensitive, {"unit": unit, "household": household})
        return self.cluster_centers_[self.labels_] if masked is None else masked

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
        if self._holds_frame:
            return _frames.take_rows(self.cluster_centers_, nearest, getattr(X, "index", None))
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
        if self._holds_frame:
            validate_data(self, X, reset=False, skip_check_array=True)
            trees = _frames.read_trees(self.hierarchies)
            return _frames.nearest_representatives(X, self.cluster_centers_, self.scale_, trees, self.order)
        values = self._table(X, reset=False)
        tree = KDTree(self._measure(self.cluster_centers_))
        return tree.query(self._measure(values), workers=self._threads())[1].astype(np.int32)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32", "float16"]
        return tags

    # ---- the two kinds of tables

    @property
    def _holds_frame(self) -> bool:
        return hasattr(self.cluster_centers_, "columns")

    def _is_mixed(self, X: Any) -> bool:
        """Whether X is a frame with categories, or is to be masked like one."""
        settings = [name for name in OF_TABLES if getattr(self, name) != DEFAULTS[name]]
        if not _frames.is_frame(X):
            if settings:
                raise InputTypeError(f"X must be a frame of pandas or polars where {', '.join(settings)} is set.")
            return False
        return bool(settings) or _frames.has_categories(X)

    def _fit(self, X: Any, sample_weight: Any, sensitive: Any, owners: dict[str, Any]) -> Any:
        """Group the records; return the published frame where X is a frame with categories."""
        owners = {option: cells for option, cells in owners.items() if cells is not None}
        self._check_demands(sensitive, owners)
        owners = {option: _owners.read_cells(option, cells, X) for option, cells in owners.items()}
        for option in ("unit", "household"):  # of an earlier fit
            if hasattr(self, f"smallest_{option}s_"):
                delattr(self, f"smallest_{option}s_")
        if self._is_mixed(X):
            return self._fit_frame(X, sample_weight, sensitive, owners)
        self._fit_numbers(X, sample_weight, sensitive, owners)
        return None

    def _fit_numbers(self, X: Any, sample_weight: Any, sensitive: Any, owners: dict[str, Any]) -> None:
        values = self._table(X, reset=True)
        k, n = integer("k", self.k, 1, len(values), "n_samples"), len(values)
        weights = None if sample_weight is None else _numbers.read_weights(sample_weight, n)
        constraints = []
        if sensitive is not None:
            constraints = constrain_values("sensitive", sensitive, self.diversity, self.closeness)
            same_rows("sensitive", constraints[0].codes.size, "X", n)
        standardize = cast(bool, self.standardize)
        if owners:
            options = self._shared_options() | {"weights": weights, "k_household": self.k_household}
            grouping: Any = _owners.group(values, k, owners, standardize, options)
        else:
            grouping = multivariate(values, k, standardize=standardize, **self._shared_options())
        self.labels_ = grouping.labels
        self.sizes_ = grouping.sizes
        self.n_groups_ = grouping.n_groups
        self.method_, self.complete_ = grouping.method, grouping.complete
        self.details_ = {} if owners else grouping.details
        self.scale_: Any = _numbers.column_deviations(values) if self.standardize else None
        if constraints:
            how = _numbers.enforce_criteria(values, k, self.labels_, constraints, standardize, self.enforce)
            self.labels_, self.n_groups_, self.sizes_ = how.labels, how.n_groups, np.bincount(how.labels)
            self.method_ = ", ".join([self.method_, *how.ways])
        if values.dtype.kind == "f" or constraints or owners or weights is not None:
            means = _numbers.group_means(values, self.labels_, self.sizes_, weights)
            self.cluster_centers_ = as_data_dtype(means, values.dtype)
        else:  # means of integers are exact, and those of the option integer=True are integers
            self.cluster_centers_ = grouping.representatives
        if constraints or owners or weights is not None:
            masked = self._measure(self.cluster_centers_)[self.labels_]
            weights = np.ones(n) if weights is None else weights
            self.information_loss_ = _numbers.weighted_loss(self._measure(values), masked, weights)
        else:
            self.information_loss_ = grouping.information_loss
        self.promises_ = []
        if constraints:
            masked = self.cluster_centers_[self.labels_]
            self.promises_ = _numbers.recount_values(masked, sensitive, self.diversity, self.closeness)
        for option, cells in owners.items():
            masked, least = self.cluster_centers_[self.labels_], k
            if option == "household":
                least = k if self.k_household is None else self.k_household
            setattr(self, f"smallest_{option}s_", _owners.recount(masked, option, cells, least))

    def _fit_frame(self, X: Any, sample_weight: Any, sensitive: Any, owners: dict[str, Any]) -> Any:
        """Group the records of a frame; return the published frame."""
        validate_data(self, X, reset=True, skip_check_array=True)
        trees = _frames.read_trees(self.hierarchies)
        options = {name: getattr(self, name) for name in (*OF_TABLES, "enforce", "k_household")}
        options |= self._shared_options()
        options |= {
            "weights": None if sample_weight is None else _numbers.read_weights(sample_weight, len(X)),
            "standardize": None if X.shape[1] == 1 and self.standardize is True else self.standardize,
            "hierarchies": trees or None,
        }
        demands = {"diversity": self.diversity, "closeness": self.closeness}
        masked, release = _frames.release_frame(X, self.k, sensitive, demands, owners, options)
        grouping, guarantee = release.grouping, release.guarantee
        self.labels_, self.sizes_ = grouping.labels.astype(np.int32), grouping.sizes
        self.n_groups_ = cast(int, grouping.n_groups)
        self.method_, self.complete_, self.details_ = grouping.method, grouping.complete, {}
        self.ncp_ = release.ncp()
        self.promises_ = [*guarantee.diversity.values(), *guarantee.closeness.values()]
        for option in owners:
            setattr(self, f"smallest_{option}s_", getattr(guarantee, f"smallest_{option}s"))
        self.cluster_centers_ = _frames.take_rows(masked, np.unique(self.labels_, return_index=True)[1])
        self.scale_ = _frames.read_units(X, trees, self.order, self.standardize)
        return masked

    # ---- parameters

    def _shared_options(self) -> dict[str, Any]:
        """As `mag.multivariate` and `mag.microaggregate` take them."""
        seed = self.random_state
        return {
            "method": one_of("method", self.method, ["auto", *METHODS]),
            "backend": self.backend,
            "threads": self._threads(),
            "random_state": int(seed.randint(2**31)) if isinstance(seed, np.random.RandomState) else seed,
            "time_limit": self.time_limit,
            **self._options(),
        }

    def _table(self, X: Any, reset: bool) -> np.ndarray:
        """X as scikit-learn checks it; NumPy's, also where its array API dispatch would keep another library's."""
        try:
            return read("X", validate_data(self, on_host("X", X), dtype="numeric", reset=reset))[0]
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
        # NumPy's sentence quotes the value, and so would the error's context
        raise InputValueError("X must hold real numbers; got strings; encode or leave out their columns first.")

    def _threads(self) -> int:
        """The number of threads, from `threads` or `n_jobs`."""
        if self.n_jobs is None:
            return thread_count("threads", self.threads)
        if self.threads is not None:
            raise InputValueError(f"n_jobs must be None where threads is set; got n_jobs={describe(self.n_jobs)}.")
        every = thread_count("n_jobs", None)
        jobs = integer("n_jobs", self.n_jobs, -every, 2**31, "most")
        if jobs == 0:
            raise InputValueError("n_jobs must be positive, or count from -1 down, all processors; got 0.")
        return jobs if jobs > 0 else every + 1 + jobs

    def _check_demands(self, sensitive: Any, owners: Mapping[str, Any]) -> None:
        """Reject sensitive values without a criterion, a criterion without sensitive values, and both with units."""
        if sensitive is not None and owners:
            raise InputValueError(f"{next(iter(owners))} is not used with sensitive values, which count records.")
        if self.k_household is not None and "household" not in owners:
            raise InputValueError("k_household is not used without household; pass households to fit.")
        one_of("enforce", self.enforce, ["auto", *ENFORCE])
        demanded = [name for name in ("diversity", "closeness") if getattr(self, name) is not None]
        if sensitive is None and demanded:
            raise InputValueError(f"{demanded[0]} needs sensitive values, pass them to fit.")
        if sensitive is not None and not demanded:
            raise InputValueError("sensitive is not used without diversity or closeness; got sensitive values.")
        if self.enforce != "auto" and not demanded:
            raise InputValueError(f"enforce is not used without diversity or closeness; got {self.enforce!r}.")

    def _options(self) -> dict[str, Any]:
        """Options of the method; reject those that are parameters of the estimator."""
        if self.options is None:
            return {}
        if not isinstance(self.options, dict):
            raise InputTypeError(f"options must be a dict or None; got {describe(self.options)}.")
        for name in self.options:
            if name in (*self._get_param_names(), "X", "progress"):
                raise InputTypeError(f"options must hold options of the method only; got {name!r}.")
        return self.options

    def _measure(self, values: np.ndarray) -> np.ndarray:
        return _numbers.measure(values, self.cluster_centers_, self.scale_)
