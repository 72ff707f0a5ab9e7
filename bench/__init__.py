"""Measurements, each beside a peer in the same run: `python -m bench NAME [--quick]`.

A figure alone says more of the machine than of the product. What counts is the ratio to a named
peer that did the like on the same machine, in the same minutes.
"""
