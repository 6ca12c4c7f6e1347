"""Tasks in other programs' formats: Harbor and terminal-bench directories, SWE-bench rows."""
