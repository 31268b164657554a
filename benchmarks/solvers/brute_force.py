import dsprog as ds

NAME = "brute force"


def run(objective, time_limit):
    result = ds.minimize(objective, ds.BruteForce(), time_limit=time_limit)
    return result.S, result.lower_bound
