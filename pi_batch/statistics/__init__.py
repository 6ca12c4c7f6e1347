"""What runs say about models: rates with intervals, tests, and what a suite can see; standard library only.

Pure functions over `trials.Entrant`; `reports/` and `wiring/` show what comes of them. docs/benchmarking.md
says how to read each number, and where each formula is from.
"""
