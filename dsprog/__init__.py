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
from dsprog.approximate.dca import DCA
from dsprog.approximate.double_greedy import DoubleGreedy
from dsprog.approximate.greedy import Greedy
from dsprog.approximate.local_search import LocalSearch
from dsprog.approximate.mod_mod import ModMod
from dsprog.approximate.ssp import SSP
from dsprog.approximate.sup_sub import SupSub
from dsprog.core.algebra import Difference, Sum
from dsprog.core.constraints import Cardinality, Exclude, Include, Knapsack, LinearConstraint, Partition
from dsprog.core.knowledge import Knowledge
from dsprog.core.lovasz import greedy_vertices, lovasz_extension, modular_lower_bound, modular_upper_bound
from dsprog.core.modular import Modular
from dsprog.core.native import load
from dsprog.core.oracle import count_oracle_calls
from dsprog.core.problem import Problem
from dsprog.core.set_function import SetFunction
from dsprog.exact.brute_force import BruteForce
from dsprog.exact.budget.budget_branch_and_bound import BudgetBranchAndBound
from dsprog.exact.compact.compact_model import CompactModel
from dsprog.exact.determinant.determinant_branch_and_bound import DeterminantBranchAndBound
from dsprog.exact.elimination.bucket_elimination import BucketElimination
from dsprog.exact.interval.branch_and_bound import BranchAndBound
from dsprog.exact.prismatic.prismatic import Prismatic
from dsprog.exact.prismatic.records import PrismIteration
from dsprog.exact.quadratic.quadratic_branch_and_bound import QuadraticBranchAndBound
from dsprog.exact.race import Race
from dsprog.exact.regression.perspective_branch_and_bound import PerspectiveBranchAndBound
from dsprog.exact.scip import Scip
from dsprog.files import read
from dsprog.functions.cardinality import CardinalityConcave
from dsprog.functions.concave import ConcaveOfModular
from dsprog.functions.concave_of import ConcaveOf
from dsprog.functions.coverage import Coverage
from dsprog.functions.decompose import decompose
from dsprog.functions.facility import FacilityLocation
from dsprog.functions.from_callable import FromCallable
from dsprog.functions.graph import Cut, Pairwise
from dsprog.functions.information import ConditionalEntropy, Entropy
from dsprog.functions.logistic import LogisticLoss
from dsprog.functions.matroid import MatroidRank
from dsprog.functions.mutual_information import MutualInformation
from dsprog.functions.nuclear import NuclearNorm
from dsprog.functions.polynomial import PseudoBoolean
from dsprog.functions.probabilistic import ProbabilisticCoverage
from dsprog.functions.regression import LeastSquares
from dsprog.functions.spectral import GaussianEntropy, LogDet
from dsprog.functions.table import Table
from dsprog.run.result import Event, Result, Verdict
from dsprog.run.run import Run
from dsprog.run.solver import Solver
from dsprog.solve.enumerate import BestSets, enumerate_best
from dsprog.solve.maximize import maximize
from dsprog.solve.minimize import minimize
from dsprog.submodular import SubmodularMinimum, minimize_submodular

__version__ = "0.1.0"

__all__ = [
    "DCA",
    "SSP",
    "BestSets",
    "BranchAndBound",
    "BruteForce",
    "BucketElimination",
    "BudgetBranchAndBound",
    "Cardinality",
    "CardinalityConcave",
    "CompactModel",
    "ConcaveOf",
    "ConcaveOfModular",
    "ConditionalEntropy",
    "Coverage",
    "Cut",
    "DeterminantBranchAndBound",
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
    "LogisticLoss",
    "MatroidRank",
    "ModMod",
    "Modular",
    "MutualInformation",
    "NuclearNorm",
    "Pairwise",
    "Partition",
    "PerspectiveBranchAndBound",
    "PrismIteration",
    "Prismatic",
    "ProbabilisticCoverage",
    "Problem",
    "PseudoBoolean",
    "QuadraticBranchAndBound",
    "Race",
    "Result",
    "Run",
    "Scip",
    "SetFunction",
    "Solver",
    "SubmodularMinimum",
    "Sum",
    "SupSub",
    "Table",
    "Verdict",
    "count_oracle_calls",
    "decompose",
    "enumerate_best",
    "greedy_vertices",
    "load",
    "lovasz_extension",
    "maximize",
    "minimize",
    "minimize_submodular",
    "modular_lower_bound",
    "modular_upper_bound",
    "read",
    "testing",
]
