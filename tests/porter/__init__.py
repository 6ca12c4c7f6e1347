"""Tests of the porter."""
