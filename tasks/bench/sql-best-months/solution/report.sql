WITH monthly AS (
    SELECT branch_id, substr(lent_on, 1, 7) AS month, count(*) AS loans
    FROM loan JOIN book ON book.id = loan.book_id
    WHERE cancelled IS NOT 1
    GROUP BY branch_id, month
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY branch_id ORDER BY loans DESC, month DESC) AS place
    FROM monthly
)
SELECT branch.name AS branch, month, loans
FROM ranked JOIN branch ON branch.id = ranked.branch_id
WHERE place = 1
ORDER BY branch.name COLLATE NOCASE;
