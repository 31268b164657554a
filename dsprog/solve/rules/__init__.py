"""When a solver is the one to take: the questions that the table in ``solve/choose.py`` asks of a problem."""
