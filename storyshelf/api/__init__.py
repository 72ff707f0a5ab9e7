"""The HTTP API, one module a resource; its shapes are in `schemas`."""
