"""Running the service: what has to be looked after while nobody looks.

Every process makes these passes on its expiry timer, and each pass is safe in any number of them at
once: rows are locked and skipped where somebody else has them. So there is no leader, and there
will be none before something has to be done by one process only.
"""
