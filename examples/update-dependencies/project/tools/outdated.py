"""Prints each requirement that has a newer release: name, pinned version, newest version."""

from releases import newest, pinned

for name, version in pinned():
    if newest(name) != version:
        print(name, version, newest(name))
