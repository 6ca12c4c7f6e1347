"""Tests of the tools, one module a tool."""
