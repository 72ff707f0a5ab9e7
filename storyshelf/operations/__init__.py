"""Running the service: what is looked after while nobody looks, and what its administrators do.

`housekeeping` is passed by every process on its expiry timer, and each pass is safe in any number
of them at once: rows are locked and skipped where somebody else has them. What has to go on with
one process alive is there, the end of leases first: none of it waits for a leader.

One process leads: it holds the lease in `leaders` in a term that rises with each take-over
(`leader`). A lease lasts 30 s and is renewed every 15; its holder trusts it until 25 s after the
request was sent, by its own monotonic clock, and followers ask every minute. An advisory lock would
need a session, and stay with a socket that is half open. While a process leads, its `office` runs
the `duties`: passes over the database, each harmless in two processes at once, and ticks that
enqueue jobs. A tick is one row, written before its jobs in their transaction and in the name of a
term that is still the newest, so it happens once whoever believes that they lead. Ticks stand on
the clock and not on when a process began, so that restarts can neither repeat nor starve them, and
the database's time says which one is due; whoever fell behind runs the latest and writes how many
were skipped. Passes write no row: they are idempotent, and there are many of them.

It differs from what one would expect in this: a resignation is not announced, as nobody waits for a
leader and the followers ask within a minute; a lease that ran out but that nobody took is renewed
in its term; an old transaction stays an alarm after its end, with when it was last seen; of jobs
that wait for ten minutes only maintenance is raised, by one class, and of each lane the first
hundred a minute. Builds are sampled every 2 s while some are captured; whether that is so is read
in the transactions that renew the lease, so that a system without builds is quiet.

`audit_pass` mends builds that nothing moves on and counts them as `audit_repairs`, which stays 0.
`unserved_work` keeps an alarm `unserved:<lane>` or `unserved:<lane>/<kind>` for as long as nobody
takes what waits there, and has builds planned again elsewhere; the watch itself is the queue's.

Figures: a process counts its ended attempts in memory (`accumulator`) and hands them on every ten
seconds and at its stop (`flush`), each batch under a number of its own, so that one whose answer
was lost is sent again and counted once. Minutes are counted by the process's monotonic clock and
become the database's when they are written: a clock that is wrong by an hour moves nothing. A
rollup makes rows anew from two hours before its newest one, which is all it has to remember; what
is flushed comes at most one hour late. Of a job's wait only the one before its first attempt is
counted. `lane_samples` are for whoever wants a history; no page reads them.

`tidy` drops builds past their limits and sweeps blobs: a job that a tick enqueues each hour, of
which there is one at a time, and a command. An advisory lock (`sweep.alone`) keeps the two apart,
and both away from a backup.

Deleting is in steps that may be cut off anywhere: a build in one transaction, a project build by
build, and blobs by the sweep alone, which removes only what no row names and nobody has used for
the grace period. `backup` and `restore` are of the embedded form.
"""
