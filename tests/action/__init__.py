"""Tests of github-action/."""
