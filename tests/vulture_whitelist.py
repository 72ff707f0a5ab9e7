"""Names that vulture cannot see used: they are called by a framework, or read by people."""
