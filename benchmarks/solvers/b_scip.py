import dsprog as ds

NAME = "SCIP branch and cut"
LARGEST = 30
SOLVER = ds.Scip()
