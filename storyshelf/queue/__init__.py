"""The job queue in Postgres: what a job may be, who holds it, and how an attempt ends.

Truth is the table `jobs`; it holds only what is not finished, and a settle moves the row to
`jobs_done`. Every write after a claim names the job and its lease token, so that whoever lost the
lease can write nothing. The queue knows nothing of builds: what ends with a job is told to its
kind, inside the transaction that ends it.

Decisions are in `job`, `retry`, `cadence`, `lease_times`, `slots`; statements in `store`; the
processes are `fetcher` (claims for free slots), `job_runner` (one attempt), `lease_keeper` (renews
and says when to stop), `settler`, `wakeup` (hints), `expiry` and `unserved`. `consumer_side` puts
together what a consumer runs. Whoever enqueues needs `store.enqueue` and nothing else of this.

Where this differs from the design, and why:

- `JobKind` has a ninth part, `settling`: whether attempts of the kind may be settled together in
  one transaction (shard closings are) or must stand alone because their `apply` can fail.
- Only completed attempts of one such kind share a transaction. Failures settle alone: their
  `ended` locks shards and builds in a second pass, which would break the lock order in a batch.
- The claim takes over expired jobs, but ends none: a worn-out or cancelled one is reported as
  overdue, and ended in a transaction of its own with its kind's `ended`. A job that nobody here can
  end must not be able to stop every claim.
- A settle whose answer was lost is recognised by the token in `job_attempts`, which has a row for
  every settle, and not in `jobs_done`, which has none for a retry or a release.
"""
