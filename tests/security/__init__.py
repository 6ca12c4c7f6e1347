"""Attacks on sandboxes, proven by their effect, each beside work that must go on."""
