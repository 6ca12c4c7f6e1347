"""A model that nobody scripted; never in CI."""
