"""Pages for a browser: one session, or one run. Self-contained, and nothing in them is fetched or obeyed.

`values` says what a page shows, `prose`, `calls` and `entries` make it from a session, `session_page` and
`run_page` put it into the templates beside them. Every text is escaped by the template engine; a policy in
the page itself (`default-src 'none'`, style and script by hash) forbids whatever might get past that.
"""
