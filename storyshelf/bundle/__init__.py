"""What an uploaded Storybook is made of: its files, its index of stories, its stories' parameters.

Everything here is pure and reads bytes that a stranger wrote, so every module refuses what it does
not understand, in words that name the entry. The CLI, the server and the child all use it.
"""
