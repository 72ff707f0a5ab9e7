"""Baselines: which earlier picture a snapshot is compared with, and why.

There is no table of baselines. Every planned build has one row for each key of its story set, and
each row carries the snapshot it hands on; choosing reads the rows of the ancestor build alone.
"""
