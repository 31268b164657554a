"""Many workers on one search: a ledger that cannot lose work, executors, and the supervisor between them."""
