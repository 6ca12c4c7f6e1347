"""Tests of codemode."""
