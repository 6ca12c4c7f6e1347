"""The process of ours inside a sandbox: it starts commands and opens files there, and decides nothing.

It runs as `python -I -S` with nothing but the standard library's lightest modules, on any Python since 3.8,
so that a sandbox is up in milliseconds and an image needs no package. What it answers is taken for what the
sandbox says: read with care.
"""
