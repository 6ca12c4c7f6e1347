DROP VIEW visitors;
CREATE TABLE person_new (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE, phone TEXT,
    created_at TEXT NOT NULL DEFAULT '2020-01-01'
);
CREATE TABLE lost_email (person_id INTEGER NOT NULL, email TEXT NOT NULL);
INSERT INTO lost_email
    SELECT id, lower(trim(contact)) FROM person
    WHERE contact LIKE '%@%' AND EXISTS (
        SELECT 1 FROM person AS first
        WHERE lower(trim(first.contact)) = lower(trim(person.contact)) AND first.id < person.id);
INSERT INTO person_new
    SELECT id, name,
        CASE WHEN contact LIKE '%@%' AND id NOT IN (SELECT person_id FROM lost_email)
            THEN lower(trim(contact)) END,
        CASE WHEN contact NOT LIKE '%@%' AND contact GLOB '*[0-9]*'
            THEN replace(replace(replace(replace(replace(trim(contact), ' ', ''), '(', ''), ')', ''), '-', ''), '/', '')
            END,
        created_at
    FROM person;
DROP TABLE person;
ALTER TABLE person_new RENAME TO person;
CREATE VIEW visitors AS
    SELECT person.name, coalesce(person.email, person.phone) AS contact, count(visit.id) AS visits
    FROM person LEFT JOIN visit ON visit.person_id = person.id
    GROUP BY person.id;
