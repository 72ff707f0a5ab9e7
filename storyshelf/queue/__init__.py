"""The job queue in Postgres: what a job may be, who holds it, and how an attempt ends.

Truth is the table `jobs`; it holds only what is not finished, and a settle moves the row to
`jobs_done`. Every write after a claim names the job and its lease token, so that whoever lost the
lease can write nothing. The queue knows nothing of builds: what ends with a job is told to its
kind, inside the transaction that ends it.

`JobKind` has a ninth part beside the eight of the design: `settling`, which says whether attempts
of this kind may be settled together in one transaction (shard closings are) or must stand alone
because their `apply` can fail (plan, finalise).
"""
