"""Projects: one Storybook under review each.

Options are stored as they were set, without the defaults, so that a default can change; keys of
other versions are kept and ignored. The project's row gives out build numbers under its lock, which
makes their order the order of opening.
"""
