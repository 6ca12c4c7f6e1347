"""From the command line's SPEC words to a plan: YAML, suites, configuration, inputs, templates.

Start at `plan.py` (`load_plan`, `adhoc_plan`, `check_specs`); `config.py` reads the configuration file.
"""
