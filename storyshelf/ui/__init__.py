"""The pages: rendered on the server, readable and usable without script.

A request is read in one transaction by `pages`, turned into words by `view_models` (pure: they
take `now`), and put into `templates`, which know only `if` and `for`. Script is one small module
for each behaviour, in `static`. Pages carry a strict content security policy, so there are no
inline styles: what has a place in a picture (mask, regions) is drawn in SVG, whose attributes are
no styles.
"""
