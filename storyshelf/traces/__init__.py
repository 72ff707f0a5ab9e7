"""Traces: one more capture of a snapshot's story, recorded step by step for people to look into.

Decided here:

- Nothing is recorded that nobody asked for. Who may have a build captured again may ask; a member
  may look.
- A trace explains, and counts for nothing: its capture writes no verdict and no picture. So it is
  recorded in the build's environment if a consumer has that, else in any other that is there.
- There is one of a snapshot: to ask again replaces it. It goes with its snapshot and its build.
- Its job is no build's job: it comes when the build is over, and no cancel of the build ends it.
  What it brings is written only if the trace is still wished by that very job.
- What is stored is a zip that a consumer wrote anew out of what its child sent
  (`consumer.trace_file`): but what it shows is an uploaded Storybook, and so it is looked at on the
  project's content host alone (`publishing`), never where the pages are.
"""
