"""What pi-batch costs, beside a bare httpx loop that does the same work in the same run."""
