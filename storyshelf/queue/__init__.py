"""The job queue in Postgres: what a job may be, who holds it, and how an attempt ends.

Truth is the table `jobs`; it holds only what is not finished, and a settle moves the row to
`jobs_done`. Every write after a claim names the job and its lease token, so that whoever lost the
lease can write nothing. The queue knows nothing of builds: what ends with a job is told to its
kind, inside the transaction that ends it.

Decisions are in `job`, `retry`, `cadence`, `lease_times`, `slots`, `low_water`; statements in
`store`; the processes are `fetcher` (claims for free slots), `job_runner` (one attempt),
`lease_keeper` (renews and says when to stop), `settler`, `wakeup` (hints), `expiry` and `unserved`.
`ground` is all that these ask of the database, and `consumer_side` puts together what a consumer
runs. Whoever enqueues needs `store.enqueue` and nothing else of this: in a transaction, or on a
line (`db.line`) where the job stands alone.

How it is fast: a claim, and the settle of a kind without effects, are one trip each on a connection
of their own, planned once. Between two looks at everything, which are two seconds apart, a claim
looks for ready jobs alone, from a floor on. Completed attempts that end in one turn of the loop are
settled together. Only claims and bare renewals commit without waiting for the disk. A slot is free
when its handler has ended; the settle goes on beside, and when four attempts a slot wait for it,
nothing more is claimed.

How it is fair: a project's jobs have start tags that rise with each, given at the enqueue, so that
the order of the index is the fair order. Three classes go before that, and one slot in four is kept
for the highest. A project may have a cap: what is beyond it is parked.

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
- `crashed` is how an attempt ends whose browser keeps dying. The job goes back while attempts are
  left, and ends as crashed with the last of them.
- Retries and releases keep their tag, and may stand below a floor then: the claim that looks at
  everything, once in the time of an active poll, finds them.
- A claim takes only jobs of kinds that are handled here, and walks over the others: a new kind
  gets a lane of its own, which older consumers do not offer. One that is held all the same fails
  with the kind's name, and its `ended` is told to nobody, since nobody here knows it.
- Caps hold on the lanes of environments, where slots are dear, and count what is queued, deferred
  or running. Parked jobs are let in by a transaction beside the claim, which locks the cap's row
  first and counts with a younger snapshot.
- A quick success is logged at debug: a line for each of thousands says less than the figures.
"""
