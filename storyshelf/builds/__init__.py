"""Builds: from the first uploaded file to a verdict.

Each module is one use case in one transaction, except cancelling, which takes two: the build's own
end must be visible at once, while its jobs and shards are locked in the order that everything else
locks them (jobs, shards, builds, snapshots, then enqueues). The expiry pass repeats the second.

A build that goes back (captured again, a shard retried) raises its generation. What belongs to an
older generation can still be written by a late consumer, but counts nothing. `planned_generation`
names the generation whose snapshots are the build's: after a cancel it lags behind, so that what
was captured stays visible and can serve as an ancestor.

The rule `first build` accepts what is added in a project's first planned build as it is recorded.
A build that was cancelled or failed does not count as the first one, since nobody saw it whole.

The tables know states that nothing leads to yet: `incomplete` (a part never came), `skipped`, and a
snapshot's `inherited` (not rendered, since nothing that it depends on changed). Until deliveries
exist, a verdict reaches CI by its poll and people by the pages.
"""
