"""Tests of spec loading."""
