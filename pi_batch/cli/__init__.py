"""The command line: one module a command; click parses, `wiring` does the rest."""
