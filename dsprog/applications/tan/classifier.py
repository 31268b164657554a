"""Tree-augmented naive Bayes with generative, discriminative or no structure.

    P(c | x) ∝ P(c) Π_i P(x_i | x_parent(i), c)

where the parents form a tree over the attributes. Narasimhan and Bilmes find generative trees by cuts of small
I(A; B | C) and discriminative ones by cuts of small EAR(A) = I(A; B | C) - I(A; B); the latter is a difference of
submodular functions, and its exact minimisation is the second experiment of Kawahara and Washio (2011). They leave
open how parts become a tree; the readings offered here are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dsprog.applications.tan.attribute_cuts import AttributeCut
from dsprog.applications.tan.columns import gaps_of, learned, split_columns, which_categorical
from dsprog.applications.tan.readable import as_graph, probabilities, row_numbers
from dsprog.applications.tan.structure import Structure
from dsprog.applications.tan.tables import Counts, LogTables
from dsprog.core.validation import Floats, Ints, as_number


def are_cuts(cuts: Any) -> bool:
    """Whether these are cuts that were found before."""
    return isinstance(cuts, (list, tuple)) and all(isinstance(cut, AttributeCut) for cut in cuts)


class TANClassifier(ClassifierMixin, BaseEstimator):
    """Naive Bayes whose attributes may depend on one another along a tree.

    Parameters
    ----------
    structure : {"discriminative", "generative", "naive"}
        Which measure of dependence the tree follows: the residual EAR, I(A; B | C), or no tree at all.
    method : {"exact", "prism", "ssp", "pairwise"}
        How cuts are found. "exact" proves every cut optimal; "prism" is the paper's algorithm, which needs a
        ``time_limit`` beyond a few attributes; "ssp" is approximate; "pairwise" looks at pairs only, which makes a
        maximum spanning tree. Generative cuts are always exact, by Queyranne's algorithm.
    tree : {"bipartition", "separator", "spanning"}
        How a tree is built: from the recursive bipartition of the attributes; from the bipartitions given each
        attribute, by dynamic programming (slow: one recursion for each); or as the maximum spanning tree on pairs.
    join : {"conditional_likelihood", "cmi", "ear"}
        Which pair joins the parts of a cut: the one that raises the conditional likelihood of the training classes
        most, the one of largest I(X_i; X_j | C), or of largest pairwise EAR.
    criterion : {"ear", "conditional_likelihood", "accuracy"}
        "ear" keeps the tree of the measure. The others go on from it by hill climbing over trees.
    smoothing : float
        Added to every count (1 is Laplace's rule, 0 strict maximum likelihood). With 0 a row that is impossible under
        every class is given the classes' prior probabilities; structures are then guided with 1.
    categorical : "auto", "all" or list of columns
        Columns of categories; "auto" takes those that do not hold numbers. The others are discretised by
        :class:`MDLDiscretizer`'s rule.
    missing : {"error", "drop", "category"}
        Refuse missing values, train on complete rows only (a missing value then says nothing when predicting), or
        treat missing as a value.
    time_limit : float, optional
        Seconds for each cut.
    cuts : list of AttributeCut, optional
        Cuts of the same data found before (``cuts_``), to be joined in another way.
    n_jobs : int, optional
        Processes: of the recursions given each attribute, or that share the search of a cut. -1 means all processors.

    Attributes
    ----------
    tree_ : (n_features_in_,) array
        The parent of each attribute, -1 for none.
    cuts_ : list of AttributeCut
        The cuts behind the tree, with values and lower bounds.
    certified_ : bool
        Whether every cut is proved optimal; true where there are none.
    classes_, class_log_prior_, tables_
        Labels, log P(c), and for each attribute log P(x_i | x_parent, c).

    Examples
    --------
    >>> import numpy as np
    >>> from dsprog.applications import TANClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (400, 4))
    >>> y = X[:, 0] ^ X[:, 2]
    >>> classifier = TANClassifier(categorical="all").fit(X, y)
    >>> float(classifier.score(X, y)), classifier.certified_
    (1.0, True)
    """

    def __init__(
        self,
        structure: str = "discriminative",
        method: str = "exact",
        tree: str = "bipartition",
        join: str = "conditional_likelihood",
        criterion: str = "ear",
        smoothing: float = 1.0,
        categorical: Any = "auto",
        missing: str = "error",
        time_limit: float | None = None,
        cuts: Sequence[Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.structure, self.method, self.tree, self.join = structure, method, tree, join
        self.criterion, self.smoothing, self.categorical, self.missing = criterion, smoothing, categorical, missing
        self.time_limit, self.cuts, self.n_jobs = time_limit, cuts, n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TANClassifier:
        """Learn the codes of columns, the tree and its tables; weights are how often each row counts."""
        structure = self._structure()
        columns, y = self._columns(X, y, reset=True)
        if sample_weight is not None:
            rows = row_numbers(sample_weight, len(y))
            columns, y = [column[rows] for column in columns], y[rows]
        if self.missing == "drop":
            whole = ~np.any([gaps_of(column) for column in columns], axis=0)
            columns, y = [column[whole] for column in columns], y[whole]
            if len(y) == 0:
                raise ValueError("X must have a row without missing values, got none")
        self.classes_, classes = np.unique(y, return_inverse=True)
        kinds = which_categorical(columns, self.categorical, getattr(self, "feature_names_in_", None))
        self.columns_ = [learned(column, kind, classes) for column, kind in zip(columns, kinds)]
        sizes = np.array([column.size for column in self.columns_])
        counts = Counts(self._codes(columns), sizes, classes, len(self.classes_))
        self.tree_, self.cuts_ = structure.learn(counts)
        self.certified_ = all(cut.certified for cut in self.cuts_)
        tables = LogTables(counts, self.smoothing)
        self.class_log_prior_ = tables.prior
        self.tables_ = [tables.child(i, parent) for i, parent in enumerate(self.tree_)]
        return self

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(c | x), a row for each row and a column for each class."""
        joint = self._joint(X)
        top = joint.max(axis=1, keepdims=True)
        impossible = np.isneginf(top[:, 0])
        joint[impossible], top[impossible] = self.class_log_prior_, 0.0
        shifted = joint - top
        with np.errstate(divide="ignore"):
            return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Floats:
        """P(c | x)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    def plot(self, axis: Any = None) -> Any:
        """Draw the class above the tree of attributes with matplotlib; returns the axis."""
        from dsprog.applications.tan.picture import draw_tree

        return draw_tree(self.tree_, self._names(), axis)

    def to_networkx(self) -> Any:
        """The network as a ``networkx.DiGraph`` with the node "class"."""
        return as_graph(self.tree_, self._names())

    def probability_table(self, feature: Any) -> Any:
        """P(x_i | x_parent, c) as a pandas table, values and classes by name; ``feature`` is a name or a number."""
        names = self._names()
        i = names.index(str(feature)) if str(feature) in names else feature
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < len(names):
            raise ValueError(f"feature must be a column of X, such as {names[0]!r} or 0, got {feature!r}")
        parent = int(self.tree_[i])
        above = None if parent < 0 else self.columns_[parent]
        called = names[i], None if parent < 0 else names[parent]
        return probabilities(self.tables_[i], self.columns_[i], above, self.classes_, called)

    def _names(self) -> list[str]:
        check_is_fitted(self)
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])]

    def _structure(self) -> Structure:
        if not as_number(self.smoothing, "smoothing") >= 0:
            raise ValueError(f"smoothing must be at least 0, got {self.smoothing!r}")
        if self.missing not in ("error", "drop", "category"):
            raise ValueError(f"missing must be 'error', 'drop' or 'category', got {self.missing!r}")
        if self.cuts is not None and not are_cuts(self.cuts):
            raise TypeError(f"cuts must be a list of AttributeCut objects such as cuts_, got {self.cuts!r}")
        return Structure(
            self.structure, self.method, self.tree, self.join, self.criterion,
            self.smoothing if self.smoothing > 0 else 1.0, self.time_limit, self.cuts, self.n_jobs,
        )  # fmt: skip

    def _joint(self, X: Any) -> Floats:
        """log P(x, c)."""
        check_is_fitted(self)
        codes = self._codes(self._columns(X)[0])
        joint = np.repeat(self.class_log_prior_[None, :], len(codes), axis=0)
        for i, (parent, table) in enumerate(zip(self.tree_, self.tables_)):
            joint += table[codes[:, parent] if parent >= 0 else 0, codes[:, i]]
        return joint

    def _codes(self, columns: list[Any]) -> Ints:
        codes = [coder.codes(column) for coder, column in zip(self.columns_, columns)]
        return np.array(codes, dtype=np.int64).T

    def _columns(self, X: Any, y: Any = None, reset: bool = False) -> tuple[list[Any], Any]:
        """The columns of X, checked, and y if it is given."""
        target = {"y": y} if reset else {}
        if hasattr(X, "iloc"):
            validate_data(self, X, **target, skip_check_array=True, reset=reset)
        else:
            checked = validate_data(self, X, **target, dtype=None, ensure_all_finite="allow-nan", reset=reset)
            X, y = checked if reset else (checked, None)
        if reset:
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            check_classification_targets(y)
            assert_all_finite(y, input_name="y")
        columns = split_columns(X)
        if self.missing == "error":
            for j, column in enumerate(columns):
                if gaps_of(column).any():
                    raise ValueError(
                        f"X must have no missing values, got NaN in column {j}: pass missing='drop' or 'category'"
                    )
        return columns, y

    def __sklearn_tags__(self) -> Any:
        """Categories, words and, by choice, missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
