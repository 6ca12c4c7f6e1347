"""Programs that imported suites carry with them: each judges the clean copy that it is started in.

They import nothing but the standard library, and nothing of this package: `python3 -I -S -B DIR/judge.py`.
"""
