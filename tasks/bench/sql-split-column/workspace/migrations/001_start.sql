CREATE TABLE person (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    contact TEXT,
    created_at TEXT NOT NULL DEFAULT '2020-01-01'
);
CREATE TABLE visit (
    id INTEGER PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    day TEXT NOT NULL
);
CREATE INDEX visit_person ON visit (person_id);
CREATE VIEW visitors AS
    SELECT person.name, person.contact, count(visit.id) AS visits
    FROM person LEFT JOIN visit ON visit.person_id = person.id
    GROUP BY person.id;
