"""Who is calling, and what they may do: people who are signed in, and bearers of project tokens.

`permissions` is the one table of what roles and scopes allow, and everybody else asks it. A token,
a session's cookie and a sign-in link are 256 random bits each; only their sha256 is kept, so
reading the database lets nobody in, and a lookup by hash leaks no timing about the secret. A
password is kept as its argon2id hash (`passwords`), and wrong ones are made slow (`throttle`). What
has to be sent on, such as a forge's token, cannot be kept as a hash: `secrets` seals it under a key
that the database does not hold.

Two ways in are the same to whoever asks for permission (`permissions.Who`), but not at the edge:
the API takes tokens alone and the pages sessions alone, see `web.caller`.
"""
