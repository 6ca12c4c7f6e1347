"""How many examples a property is tried on: few by default, many by `--hypothesis-profile thorough`."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("quick", max_examples=20, deadline=None)
settings.register_profile("thorough", max_examples=150, deadline=None)
settings.load_profile("quick")
