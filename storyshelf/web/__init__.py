"""What API and pages share at the edge: who is calling, problems, paging, limits.

Until people can sign in, the server listens on loopback only and pages are open. A page elsewhere
could still reach it through a visitor's browser, so requests are answered only for the host names
of the server itself (a rebound DNS name is refused), and everything that changes something needs a
project token, which no foreign page has.
"""
