"""Snapshots: one picture each, the machine's verdict on it, and people's decision.

A snapshot hands on to its descendants one *effective* snapshot: itself if it was accepted or is
pixel for pixel its baseline, else its baseline. A picture that differs within the tolerance is
unchanged, but it does not become the next baseline: otherwise ten steps under the threshold would
add up to a change that nobody was ever shown.

Two things are remembered of a project's stories beyond any build, and both only make a capture
start where it would end anyway: how still each holds (`steadiness`), and which give another picture
in a page that others were shown in (`dependence`). Losing them costs time, never a verdict.
A story that depends on others is kept apart for 30 days since that was last seen, not for good: the
one that it depended on may have been mended.
"""
