"""Faults on purpose, each on a cluster of its own; every scenario ends with the ledger.

Consumers here are real processes around the product's own `ConsumerSide`, on a Postgres with the
settings of production; only the lease is shorter, with all that goes with it in proportion. Builds
go through the product's own plan, shards and finalise; what is left out is the browser. Beside the
product's rows stands a record that it knows nothing of: triggers note who owned a job when, and
every effect is a row written in the settling transaction.
"""
