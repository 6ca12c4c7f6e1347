"""Files that `pi-batch init` writes: workflows, hooks, suites, timers. Data, no code."""
