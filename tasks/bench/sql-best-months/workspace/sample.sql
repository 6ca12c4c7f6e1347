INSERT INTO branch VALUES (1, 'North'), (2, 'South');
INSERT INTO book VALUES (1, 1, 'Maps'), (2, 1, 'Birds'), (3, 2, 'Bread');
INSERT INTO loan VALUES (1, 1, '2023-03-04', 0), (2, 2, '2023-03-09', NULL), (3, 1, '2023-05-01', 0),
    (4, 3, '2023-05-02', 1);
-- gives: North | 2023-03 | 2
