"""Deliveries: what a build's state says on a forge and to webhooks, in order and once in effect.

Every move of a build writes, in its own transaction, how each subject of each connection of the
project should stand (`want`), and enqueues a job for what differs from what was wished before. The
newest build has the word on a subject: an older one that is decided late does not take it back.
What a disabled connection should say is written down as failed, and said once it is enabled.

A job sends what is wished when it starts, and its settling transaction notes the version it sent;
a job that finds its version sent has nothing to do. One job of a subject talks to the other end at
a time, held by a term on the subject's row that is longer than any send may take, so that a late
answer cannot overtake. A crash between the sending and the settling has the same state sent again:
a status says what it said, and a comment is found by its marker.

Locks: a move holds its builds' rows, then locks connections (shared) and subjects in order, and
last the lane of the jobs. All of it happens at the very end of the transaction (`Tx.close_with`).
A settle holds its job, then one subject, and nothing after it. Jobs have no dedupe key: one that a
settle is giving back would be waited for by who holds the subject that the settle wants next.
"""
