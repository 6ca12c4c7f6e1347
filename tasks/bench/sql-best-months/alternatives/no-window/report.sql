SELECT branch.name AS branch, m.month, m.loans
FROM branch
JOIN (
    SELECT branch_id, strftime('%Y-%m', lent_on) AS month, count(*) AS loans
    FROM loan JOIN book ON book.id = book_id
    WHERE coalesce(cancelled, 0) <> 1
    GROUP BY 1, 2
) AS m ON m.branch_id = branch.id
WHERE NOT EXISTS (
    SELECT 1
    FROM loan JOIN book ON book.id = book_id
    WHERE coalesce(cancelled, 0) <> 1 AND branch_id = branch.id
    GROUP BY strftime('%Y-%m', lent_on)
    HAVING count(*) > m.loans OR (count(*) = m.loans AND strftime('%Y-%m', lent_on) > m.month)
)
ORDER BY lower(branch.name)
