"""Runs that are killed, cut and taken up again."""
