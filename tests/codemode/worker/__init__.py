"""Tests of the process around a script: real workers, hostile ones, and the host's side of both."""
