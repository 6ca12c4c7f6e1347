"""Tests of the programs that imported suites carry."""
