"""Running the service: what has to be looked after while nobody looks."""
