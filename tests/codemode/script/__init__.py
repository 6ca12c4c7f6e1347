"""Tests of the language of scripts."""
