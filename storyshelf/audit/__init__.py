"""The record of who did what, kept for people; an event commits with what it tells about."""
