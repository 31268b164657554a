"""One run: its limits, clock, incumbent, trace, log and checkpoint, and the driver of every search."""
