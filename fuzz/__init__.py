"""Random problems against an independent referee: ``python -m fuzz --minutes 10 --seed 0``.

A case is plain data (:mod:`fuzz.cases`), from which the library's objects are made by evaluating Python source, the same
that a reproducer contains, and which :mod:`fuzz.referee` evaluates from the definitions alone.
"""
