"""Blobs: content named by its sha256, written once, whole or not at all.

A blob is synced to disk (file and folder) before `put` returns, so that a row which names it may
be committed at once. Keys come from content, so writing one twice is the same as writing it once.
"""
