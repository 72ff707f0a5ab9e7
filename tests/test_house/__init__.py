"""The rules of the house hold, and each would notice being broken."""
