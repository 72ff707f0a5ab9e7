"""The `storyshelf` command: one module a command, named in the table of `main`."""
