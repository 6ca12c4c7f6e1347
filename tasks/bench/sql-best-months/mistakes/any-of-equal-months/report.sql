SELECT branch, month, max(loans) AS loans FROM (
    SELECT branch.name AS branch, branch.id AS id, substr(lent_on, 1, 7) AS month, count(*) AS loans
    FROM loan JOIN book ON book.id = loan.book_id JOIN branch ON branch.id = book.branch_id
    WHERE cancelled IS NOT 1
    GROUP BY branch.id, month
) GROUP BY id ORDER BY branch COLLATE NOCASE
