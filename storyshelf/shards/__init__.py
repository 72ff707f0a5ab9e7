"""How a build is cut into shards, and how long the rest of it will take. Pure.

The cut depends on what captures took last time and on nothing else: the same snapshots in another
order make the same shards, and no snapshot is in two of them or in none.
"""
