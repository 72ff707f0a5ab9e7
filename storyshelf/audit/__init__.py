"""The record of who did what, kept for people."""
