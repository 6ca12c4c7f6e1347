SELECT branch, max(month) AS month, loans FROM (
    SELECT branch.name AS branch, branch.id AS id, substr(lent_on, 1, 7) AS month, count(*) AS loans
    FROM loan JOIN book ON book.id = loan.book_id JOIN branch ON branch.id = book.branch_id
    WHERE cancelled = 0
    GROUP BY branch.id, month
    ORDER BY loans DESC
) GROUP BY id ORDER BY branch COLLATE NOCASE
