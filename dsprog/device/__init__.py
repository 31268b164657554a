"""Accelerators: the batches of a search on another machine than the host's processor, with the same proof."""
