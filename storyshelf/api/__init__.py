"""The HTTP API, one module a resource; its shapes are in `requests` and `schemas`.

Every request may be sent twice: an upload is found again by its idempotency key, what is cancelled
or sealed already is answered as it is, and a decision names what the reviewer saw. A body with an
unknown field is refused, lists are paged by keyset, and a token is of one project: every other one
does not exist for it. `client.answers` reads these shapes without importing them, so that a client
of another version goes on; what it needs is held by the tests of both.
"""
