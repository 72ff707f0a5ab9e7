"""The queues that ours is measured beside, each in a process of its own that speaks JSON lines.

What is in `lines`, `pgqueuer_side` and `procrastinate_side` runs under the peers' own interpreter,
which has none of our packages; nothing of theirs is imported by us.
"""
