"""The uploaded Storybook, browsable: each build at `/builds/<number>/`, a branch at its name.

It is code of whoever uploads, so it gets a host of its own per project and nothing of the app's:
no cookie, no storage, no name to open the app by. Members come by a hand-over (`web.hand_over`),
which is turned into a pass, a cookie of this host alone; every request asks again whether the
session behind it is alive and its person still a member. A public project needs neither.

A branch's address leads on to its newest sealed build instead of serving it under its own path.
So a page never mixes the files of two builds when one is sealed while it loads, a file's address
names one content, and a service worker, whose reach is the folder it lies in, never gets
hold of a build that came after its own: every folder here belongs to one build.

A snapshot's trace is at `/traces/<snapshot>.zip`, and what shows it at `/trace-viewer/`: to members
alone, also of a public project, since a trace is of a build that nobody has made public.

Builds of one project share their origin: whoever may upload to a project may read what its members
can see of its Storybooks. Other origins get nothing, not even of public projects, so another
Storybook cannot compose one of ours by reference (`refs`).
"""
