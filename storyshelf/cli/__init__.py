"""The `storyshelf` command: one module a command, named in the table of `main`.

Commands that speak to a server (`upload`, `wait`, `decide`, `build`) import no server package, so
that CI waits for them no longer than it must: `lazy` imports a command only when it runs. Commands
of the machine (`up`, `serve`, `migrate`, `db`, `project`, `doctor`) read the settings themselves.
Consumers are started as processes, never imported.

`up` ends its parts in order, and need not survive a kill for that: `aftermath` is a process beside
it that ends what is left, and holds its lock until then.
"""
