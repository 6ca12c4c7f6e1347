-- The table is changed in place: dropping it would delete the visits of every person, by ON DELETE CASCADE.
DROP VIEW visitors;
ALTER TABLE person ADD COLUMN email TEXT;
ALTER TABLE person ADD COLUMN phone TEXT;
UPDATE person SET email = lower(trim(contact, ' ' || char(9, 10, 13))) WHERE instr(contact, '@');
WITH RECURSIVE letter (id, at, whole, digits) AS (
    SELECT id, 1, trim(contact, ' ' || char(9, 10, 13)), '' FROM person WHERE contact NOT LIKE '%@%'
    UNION ALL
    SELECT id, at + 1, whole, digits || CASE
        WHEN substr(whole, at, 1) GLOB '[0-9]' OR (at = 1 AND substr(whole, 1, 1) = '+') THEN substr(whole, at, 1)
        ELSE '' END
    FROM letter WHERE at <= length(whole)
)
UPDATE person SET phone = (
    SELECT digits FROM letter WHERE letter.id = person.id AND at > length(whole) AND digits GLOB '*[0-9]*'
);
CREATE TABLE lost_email (person_id INTEGER NOT NULL REFERENCES person (id) ON DELETE CASCADE, email TEXT NOT NULL);
INSERT INTO lost_email
    SELECT id, email FROM person
    WHERE EXISTS (SELECT 1 FROM person AS first WHERE first.email = person.email AND first.id < person.id);
UPDATE person SET email = NULL WHERE id IN (SELECT person_id FROM lost_email);
ALTER TABLE person DROP COLUMN contact;
CREATE UNIQUE INDEX person_email ON person (email);
CREATE VIEW visitors AS
    SELECT person.name, coalesce(person.email, person.phone) AS contact, count(visit.id) AS visits
    FROM person LEFT JOIN visit ON visit.person_id = person.id
    GROUP BY person.id;
