"""Snapshots: one picture each, the machine's verdict on it, and people's decision.

A snapshot hands on to its descendants one *effective* snapshot: itself if it was accepted or is
pixel for pixel its baseline, else its baseline. A picture that differs within the tolerance is
unchanged, but it does not become the next baseline: otherwise ten steps under the threshold would
add up to a change that nobody was ever shown.
"""
