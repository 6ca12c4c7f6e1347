"""pi-batch: run coding-agent tasks with nobody watching, and judge them by their own checks.

Importing this package does nothing; the command line lives in `pi_batch.cli`.
"""

__version__ = "0.1.0"
