"""Minimise differences of submodular set functions, exactly and with a proof.

>>> import numpy as np, dsprog as ds
>>> rng = np.random.default_rng(0)
>>> f = ds.ConcaveOfModular(rng.random((8, 12)))                 # diminishing costs
>>> g = ds.Coverage(rng.random((30, 12)) < 0.3, rng.random(30))   # diminishing rewards
>>> result = ds.minimize(f - g)
>>> result.certified
True
"""

from dsprog import testing
from dsprog.algebra import Difference, Sum
from dsprog.constraints import Cardinality, Exclude, Include, Knapsack, LinearConstraint, Partition
from dsprog.decompose import decompose
from dsprog.enumerate import BestSets, enumerate_best
from dsprog.files import load
from dsprog.functions.cardinality import CardinalityConcave
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.concave_of import ConcaveOf
from dsprog.functions.coverage import Coverage
from dsprog.functions.facility import FacilityLocation
from dsprog.functions.from_callable import FromCallable
from dsprog.functions.graph import Cut, Pairwise
from dsprog.functions.information import ConditionalEntropy, Entropy
from dsprog.functions.matroid import MatroidRank
from dsprog.functions.modular import Modular
from dsprog.functions.mutual_information import MutualInformation
from dsprog.functions.nuclear import NuclearNorm
from dsprog.functions.regression import LeastSquares
from dsprog.functions.spectral import GaussianEntropy, LogDet
from dsprog.functions.table import Table
from dsprog.knowledge import Knowledge
from dsprog.lovasz import greedy_vertices, lovasz_extension, modular_lower_bound, modular_upper_bound
from dsprog.minimize import minimize
from dsprog.readers import read
from dsprog.result import Event, Result
from dsprog.set_function import SetFunction, count_oracle_calls
from dsprog.solvers.branch_and_bound import BranchAndBound
from dsprog.solvers.brute_force import BruteForce
from dsprog.solvers.compact_model import CompactModel
from dsprog.solvers.dca import DCA
from dsprog.solvers.double_greedy import DoubleGreedy
from dsprog.solvers.greedy import Greedy
from dsprog.solvers.local_search import LocalSearch
from dsprog.solvers.mod_mod import ModMod
from dsprog.solvers.perspective import PerspectiveBranchAndBound
from dsprog.solvers.prismatic import Prismatic
from dsprog.solvers.quadratic import QuadraticBranchAndBound
from dsprog.solvers.race import Race
from dsprog.solvers.scip import Scip
from dsprog.solvers.solver import Solver
from dsprog.solvers.ssp import SSP
from dsprog.solvers.sup_sub import SupSub
from dsprog.submodular import SubmodularMinimum, minimize_submodular

__version__ = "0.1.0"

__all__ = [
    "DCA",
    "SSP",
    "BestSets",
    "BranchAndBound",
    "BruteForce",
    "Cardinality",
    "CardinalityConcave",
    "CompactModel",
    "ConcaveOf",
    "ConcaveOfModular",
    "ConditionalEntropy",
    "Coverage",
    "Cut",
    "Difference",
    "DoubleGreedy",
    "Entropy",
    "Event",
    "Exclude",
    "FacilityLocation",
    "FromCallable",
    "GaussianEntropy",
    "Greedy",
    "Include",
    "Knapsack",
    "Knowledge",
    "LeastSquares",
    "LinearConstraint",
    "LocalSearch",
    "LogDet",
    "MatroidRank",
    "ModMod",
    "Modular",
    "MutualInformation",
    "NuclearNorm",
    "Pairwise",
    "Partition",
    "PerspectiveBranchAndBound",
    "Prismatic",
    "QuadraticBranchAndBound",
    "Race",
    "Result",
    "Scip",
    "SetFunction",
    "Solver",
    "SubmodularMinimum",
    "Sum",
    "SupSub",
    "Table",
    "count_oracle_calls",
    "decompose",
    "enumerate_best",
    "greedy_vertices",
    "load",
    "lovasz_extension",
    "minimize",
    "minimize_submodular",
    "modular_lower_bound",
    "modular_upper_bound",
    "read",
    "testing",
]
