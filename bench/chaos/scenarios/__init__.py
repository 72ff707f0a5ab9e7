"""The faults, one module a sort; each scenario is a function of a world and how long it may take.

It does its worst, says with `world.expect` what had to hold beside the ledger, and returns what
it measured. The ledger is read by whoever called it.
"""
