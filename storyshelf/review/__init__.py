"""Review: people decide, and read what there is to decide.

A decision writes the snapshot's decision, what it hands on, and the build's state in one
transaction under the build's row lock. While a build is still captured, its state is left alone:
the decision is recorded and counted when the build is finalised. A broken, failed or incomplete
build takes decisions and keeps its state, since accepting a change does not mend a fault.

`strip` has a build's snapshots in the one order that lists, filmstrip and keyboard go by.
"""
