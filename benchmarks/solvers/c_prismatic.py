import dsprog as ds

NAME = "Prismatic, optimum"
LARGEST = 20
SOLVER = ds.Prismatic(subdivision="optimum", no_goods=True)
