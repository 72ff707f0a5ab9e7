"""The consumer: the process that claims jobs, and its children that hold a browser.

The parent (`launcher`, `wiring`, `kinds`, `supervisor`) has the database, the blobs and the leases,
and runs nothing of an uploaded Storybook. A child (`child`, `capture`, `bundle_server`) renders one
project's stories, and has neither credentials nor a way to what does. They speak through `channel`,
in the words of `messages`; the parent believes no more of a child than those types, and computes
every hash itself. How far the two are kept apart on this machine is found out by `isolation`.

Decided here:

- A consumer proves that it can capture before it claims anything. One that cannot ends with code 3
  and the cure, and whoever supervises it waits for a person instead of starting it over and over.
- A child is lent (`lending`), not owned: jobs of one project use it one after the other, and the
  files of a bundle are copied into its cell once, since builds of a project share most of them.
- Waiting for a child counts as progress for ten minutes, though nothing is rendered meanwhile: a
  project that waits its turn in the weak form must not lose its leases to it. Then the lease is
  left to run out, and another consumer has its turn.
- What a child writes to stderr is logged escaped and bounded: it repeats what pages say.
- What is begun at boot is noted with how it ends before it begins (`staging`, `life`), and ends by
  the same steps whether the boot failed, was stopped, or the consumer lived for a month.
- The row of a consumer is both what it does and what is wished of it (`conduct`): what it came to
  by itself is told once, and then the row is believed. A stop is never taken back.
- Another consumer's process is looked for only where its id means the same (`machine`): one boot of
  one kernel, one namespace of process ids, one host name. What cannot be looked at is taken to
  live. An attempt that a dead one leaves is lost and stays charged: the job may be what killed it.
- The probe of the hint line is the beat. It comes every 10 s while hints flow, and every 15 s by a
  transaction of its own where they do not.
"""
