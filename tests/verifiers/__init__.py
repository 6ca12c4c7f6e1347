"""Tests of the ways to judge."""
