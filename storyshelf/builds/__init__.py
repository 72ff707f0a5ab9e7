"""Builds: from the first uploaded file to a verdict.

Each module is one use case in one transaction, except cancelling, which takes two: the build's own
end must be visible at once, while its jobs and shards are locked in the order that everything else
locks them (jobs, shards, builds, snapshots, then enqueues). The expiry pass repeats the second.

A build that goes back (captured again, a shard retried) raises its generation. What belongs to an
older generation can still be written by a late consumer, but counts nothing. `planned_generation`
names the generation whose snapshots are the build's: after a cancel it lags behind, so that what
was captured stays visible and can serve as an ancestor.

While a build is captured, `sample_progress` keeps one row of its pace, taken the sooner the less is
left; pages read that row. An open shard without a job is sent out again, though no step of ours
leaves one. `mend_build` is for what should never be: a wrong counter, a build without a job. A
finalise job that is done counts as none there: its build would have ended with it.

A build is captured in one environment. When nobody has that any more and somebody has another, it
goes back to be planned (`plan_again`): `capturing -> queued`, the one step back of a build that has
not ended. So a few times at most; who captures it again by hand gives it its chances back.

A failed shard can be retried while others are captured still: the generation stays and the counter
rises. Of one that has ended the generation rises, as for every way back.

The rule `first build` accepts what is added in a project's first planned build as it is recorded.
A build that was cancelled or failed does not count as the first one, since nobody saw it whole.

The tables know states that nothing leads to yet: `incomplete` (a part never came), and a snapshot's
`inherited` (not rendered, since nothing that it depends on changed).

A build comes into being and moves by `moving` alone, which has the project's forges and webhooks
told of it at the end of the same transaction.
"""
