"""Words of a text file with the lines they stand in, so that every complaint names file and line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NoReturn

from dsprog.core.archive import most_elements
from dsprog.core.validation import shortened


class Tokens:
    """The words of a file, read from the left.

    Parameters
    ----------
    path : Path
    comments : str
        A line whose first word starts with one of these letters is skipped.
    """

    def __init__(self, path: Path, comments: str = "#") -> None:
        self.path = path
        self.words: list[str] = []
        self.lines: list[int] = []
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} cannot be read as text: {error}") from None
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if words and words[0][0] not in comments:
                self.words += words
                self.lines += [number] * len(words)
        self.at = 0

    @property
    def left(self) -> int:
        """How many words are left."""
        return len(self.words) - self.at

    def complain(self, sentence: str, back: int = 1) -> NoReturn:
        """Raise ValueError about the word read last, or ``back`` words ago."""
        where = max(0, min(self.at - back, len(self.lines) - 1))
        line = self.lines[where] if self.lines else 1
        raise ValueError(f"{self.path}, line {line}: {sentence}")

    def word(self, what: str) -> str:
        """The next word."""
        if not self.left:
            self.complain(f"the file ends where {what} should be")
        self.at += 1
        return self.words[self.at - 1]

    def whole(self, what: str, least: int | None = None, most: int | None = None) -> int:
        """The next word as a whole number from ``least`` to ``most``."""
        word = self.word(what)
        try:
            number = int(word)
        except ValueError:
            self.complain(f"{what} must be a whole number, got {shortened(word)}")
        if (least is not None and number < least) or (most is not None and number > most):
            limits = f"at least {least}" if most is None else f"from {least} to {most}"
            self.complain(f"{what} must be {limits}, got {shortened(number)}")
        return number

    def size(self, what: str, least: int) -> int:
        """The next word as the size of a ground set: a million, and one more for each word of the file, at most."""
        return self.whole(what, least, most_elements(len(self.words)))

    def real(self, what: str) -> float:
        """The next word as a finite number."""
        word = self.word(what)
        try:
            number = float(word)
        except ValueError:
            self.complain(f"{what} must be a number, got {shortened(word)}")
        if not math.isfinite(number):
            self.complain(f"{what} must be finite, got {shortened(word)}")
        return number

    def end(self) -> None:
        """Nothing must be left."""
        if self.left:
            self.at += 1
            self.complain(f"the file goes on where it should end, with {shortened(self.words[self.at - 1])}")
