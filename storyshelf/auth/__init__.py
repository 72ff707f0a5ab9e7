"""Who is calling: project tokens now, people later.

A token is 256 random bits behind a recognisable prefix. Only its sha256 is kept, so reading the
database gives nobody a token, and a lookup by hash leaks no timing about the secret.
"""
