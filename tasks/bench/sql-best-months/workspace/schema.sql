CREATE TABLE branch (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE book (id INTEGER PRIMARY KEY, branch_id INTEGER NOT NULL REFERENCES branch, title TEXT NOT NULL);
CREATE TABLE loan (
    id INTEGER PRIMARY KEY,
    book_id INTEGER NOT NULL REFERENCES book,
    lent_on TEXT NOT NULL, -- ISO 8601 date
    cancelled INTEGER      -- 1: was cancelled
);
