"""Scripts that must run, and scripts that must not get anywhere."""
