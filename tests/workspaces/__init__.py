"""Workspaces, on real directories and with the real git."""
