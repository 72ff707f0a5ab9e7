"""How a build is cut into shards, and how long the rest of it will take. Pure."""
