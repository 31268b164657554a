"""Random problems against an independent referee: ``python -m fuzz --minutes 10 --seed 0``.

A case is plain data (:mod:`fuzz.cases`). The library's objects are made from it by evaluating Python source, the same
that a reproducer contains; :mod:`fuzz.referee` evaluates it from the definitions alone.
"""
