"""What API, pages and published Storybooks share at the edge: who is calling, problems, limits.

Who is asked for is decided by the host name (`hosts`): the app at its own names, each project's
published Storybook at one of its own, and every other name is refused, so a rebound one leads
nowhere. Who asks is decided by the path (`caller`): below `/api/` the bearer of a token, elsewhere
the session of a cookie. What changes something by a cookie has to come from a page of ours
(`same_origin`), and what a cookie lets see is not loaded into a page of another origin
(`navigation`): published Storybooks are hostile pages of the same site. `hand_over` is how a
visitor gets from the app to one of them.

Every body is bounded before it is read (`limits`), lists are paged by keyset (`paging`), and every
error is a problem that says what, where and what to do next (`problems`).
"""
