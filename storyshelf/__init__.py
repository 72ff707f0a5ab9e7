"""Visual regression for Storybook: everything but the process that captures (see `consumer`).

A package is a noun of the domain, a module in it one decision (pure), one use case (a shell, in one
transaction) or the SQL of one table (a store). Imports point down the list of the README only, and
the contracts in `pyproject.toml` hold every one of these boundaries.
"""
