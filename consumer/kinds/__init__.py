"""What a consumer does for each job kind: the `handle` of what `builds` and `deliveries` define.

A handler holds no transaction while it works. What it finds on the way is written through
`Work.record`, which proves the lease first; what it returns is written by the kind's `apply`.
"""
