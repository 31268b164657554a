"""How results and functions look: curves with matplotlib, tables as HTML. Nothing here knows how they were made."""
