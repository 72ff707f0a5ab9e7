"""The pages: rendered on the server, readable and usable without script.

A request is read in one transaction by the routes of a `*_pages` module, turned into words by
`view_models` (pure: they take `now`), and put into `templates`, which know only `if` and `for`.
What is sent comes by forms to the same modules, and is answered by a redirect or, where something
is wrong with it, by the form as it was typed. Script in `static` sends the same forms and puts the
same answers in place. Pages carry a strict content security policy, so there are no inline styles:
what has a place in a picture (mask, regions) is drawn in SVG, whose attributes are no styles.
"""
