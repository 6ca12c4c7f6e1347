"""Tests of the kernel's locks: each is tried by its effect, in a process of its own."""
