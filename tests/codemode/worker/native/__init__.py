"""Native code for a locked worker: what a script could do that had broken out of the language altogether.

Payloads run in namespaces of their own only (`stage.py`), and each proves itself by its effect.
"""
