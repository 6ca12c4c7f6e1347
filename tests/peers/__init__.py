"""Tests of tasks in other formats."""
