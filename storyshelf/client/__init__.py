"""The light half of the CLI: it hashes a folder, asks git, and speaks the HTTP API.

A CI machine starts it for every push, so it imports no database, web framework, browser or image
library; import-linter and a test that looks at `sys.modules` keep it so.
"""
