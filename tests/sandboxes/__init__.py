"""Tests of the sandboxes room."""
