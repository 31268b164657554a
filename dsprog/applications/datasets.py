"""The four data sets of the paper's structure-learning experiment, as pandas tables.

CHESS, GERMAN and HEPATITIS come with the package. CENSUS-INCOME (KDD) is read from a folder that holds
``census-income.data`` and ``census-income.test`` (plain or ``.gz``), or fetched from OpenML. Numeric columns have
numeric types, all others are categories, and missing values are missing.

>>> from dsprog.applications.datasets import load_chess
>>> chess = load_chess()
>>> chess.X.shape, sorted(set(chess.y.tolist()))
((3196, 36), ['nowin', 'won'])
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "data"


def column_names(words: str) -> list[str]:
    """The words of a string."""
    return words.split()


CHESS = column_names(
    "bkblk bknwy bkon8 bkona bkspr bkxbq bkxcr bkxwp blxwp bxqsq cntxt dsopp dwipd hdchk katri mulch qxmsq r2ar8 "
    "reskd reskr rimmx rkxwp rxmsq simpl skach skewr skrxp spcop stlmt thrsk wkcti wkna8 wknck wkovl wkpos wtoeg"
)
GERMAN = column_names(
    "checking duration history purpose amount savings employment rate status debtors residence property age "
    "plans housing credits job liable telephone foreign"
)
GERMAN_NUMERIC = ("duration", "amount", "rate", "residence", "age", "credits", "liable")
HEPATITIS = column_names(
    "age sex steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen_palpable spiders ascites varices "
    "bilirubin alk_phosphate sgot albumin protime histology"
)
HEPATITIS_NUMERIC = ("age", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime")
CENSUS = column_names(
    "age class_of_worker industry occupation education wage_per_hour enrolled marital major_industry "
    "major_occupation race hispanic sex union unemployment employment capital_gains capital_losses dividends "
    "tax_filer previous_region previous_state household household_summary weight migration_msa migration_reg "
    "migration_within same_house sunbelt persons_worked under_18 birth_father birth_mother birth_self citizenship "
    "own_business veteran_form veterans_benefits weeks_worked year"
)
CENSUS_NUMERIC = (
    "age", "wage_per_hour", "capital_gains", "capital_losses", "dividends", "persons_worked", "weeks_worked",
)  # fmt: skip
CENSUS_FILES = ("census-income.data", "census-income.test")
CENSUS_MESSAGE = (
    "CENSUS-INCOME is neither on disk nor online: put census-income.data and census-income.test (plain or .gz) into a "
    "folder and pass it as `folder` or in the environment variable DSPROG_CENSUS, or connect to OpenML ({reason})"
)


@dataclass(frozen=True)
class Dataset:
    """Attributes ``X``, a pandas table, and classes ``y``."""

    name: str
    X: Any
    y: np.ndarray

    def complete(self) -> Dataset:
        """The rows without missing values."""
        whole = self.X.notna().to_numpy().all(axis=1)
        return self.rows(np.flatnonzero(whole))

    def rows(self, chosen: np.ndarray) -> Dataset:
        """Some of the rows."""
        return Dataset(self.name, self.X.iloc[chosen].reset_index(drop=True), self.y[chosen])


def load_chess() -> Dataset:
    """King and rook against king and pawn: 3,196 positions, 36 attributes, won or not."""
    table = read(FOLDER / "kr-vs-kp.data.gz", [*CHESS, "class"])
    return dataset("chess", table, ())


def load_german() -> Dataset:
    """German credit: 1,000 applicants, 7 numeric and 13 other attributes, good (1) or bad (2)."""
    return dataset("german", read(FOLDER / "german.data", [*GERMAN, "class"], sep=" "), GERMAN_NUMERIC)


def load_hepatitis() -> Dataset:
    """Hepatitis: 155 patients, 6 numeric and 13 other attributes, died (1) or lived (2); 80 rows are complete."""
    return dataset("hepatitis", read(FOLDER / "hepatitis.data", ["class", *HEPATITIS]), HEPATITIS_NUMERIC)


def load_census(folder: str | os.PathLike[str] | None = None) -> tuple[Dataset, Dataset]:
    """CENSUS-INCOME (KDD): 199,523 rows for training and 99,762 for testing, 40 attributes, income above 50,000 or not.

    Parameters
    ----------
    folder : path, optional
        Where the files are; by default the environment variable DSPROG_CENSUS. Without either, OpenML is asked.
    """
    place = folder if folder is not None else os.environ.get("DSPROG_CENSUS")
    if place is None:
        table = fetch_census()
        parts = [table.iloc[:199_523], table.iloc[199_523:]]
    else:
        parts = [read(census_file(Path(place), name), [*CENSUS, "class"]) for name in CENSUS_FILES]
    train, test = (dataset("census", part.drop(columns="weight"), CENSUS_NUMERIC) for part in parts)
    return train, test


def census_file(folder: Path, name: str) -> Path:
    """The file, plain or compressed."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise FileNotFoundError(CENSUS_MESSAGE.format(reason=f"{folder} has no {name}"))


def fetch_census() -> Any:
    """The 299,285 rows from OpenML (data set 4535), training rows first."""
    from sklearn.datasets import fetch_openml

    try:
        table = fetch_openml(data_id=4535, as_frame=True, parser="auto", n_retries=1).frame
    except Exception as error:
        raise FileNotFoundError(CENSUS_MESSAGE.format(reason=f"OpenML did not answer: {error}")) from error
    words = table.set_axis([*CENSUS, "class"], axis=1).astype(object)
    return words.mask(words == "?")


def read(path: Path, names: list[str], sep: str = ",") -> Any:
    """A file without a header, all cells as words; ``?`` is missing, and nothing else is."""
    import pandas as pd

    return pd.read_csv(
        path, sep=sep, names=names, dtype=str, na_values=["?"], keep_default_na=False, skipinitialspace=True
    )


def dataset(name: str, table: Any, numeric: tuple[str, ...]) -> Dataset:
    """Attributes with their types, and the class."""
    X = table.drop(columns="class")
    kinds = {column: float if column in numeric else "category" for column in X.columns}
    y = np.char.strip(np.asarray(table["class"], dtype=str), " .")
    return Dataset(name, X.astype(kinds).reset_index(drop=True), y)
