"""Tests of what runs say about models."""
