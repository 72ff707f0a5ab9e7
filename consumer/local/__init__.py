"""Captures a built Storybook to a folder: no server, no database, the consumer's own child.

`python -m consumer.local`, which the CLI starts as a process, since it does not know the consumer.

Decided here:

- What is captured, and how, is what a consumer would do: the same child, fence, isolation, waits.
- The folder is written as the pictures come, and its report every few seconds: who is stopped, even
  by a power cut, leaves a folder that can be opened, and that says what is missing.
- A file's name never decides where it is written (`names`), and only what we wrote ourselves is
  ever removed (`out_folder`): a folder is ours by the list of names that it carries.
- The order of repeated captures is shuffled, but the same every time: what was found once is found
  again by the same command.
- The page of the report is one file of markup that works without script; script filters and
  searches. Whatever a story says is escaped, and a policy stops what would get past that.
"""
