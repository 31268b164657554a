"""A small compiler for kernels: loops over arrays of numbers, written in Python, become machine code by LLVM.

Kernels are a small language: numbers, arrays, NamedTuples of them, loops, conditions and calls of each other. ``kinds``
says what values there are, ``writer`` writes LLVM's language; ``statements``, ``expressions``, ``calls``, ``numbers``
and ``arrays`` know what a kernel means, in one ``reading`` of it after another; ``program`` gathers the functions that
a kernel needs, ``door`` lets Python call it, ``machine_code`` is LLVM, and ``disk`` keeps its work for later processes.
"""
