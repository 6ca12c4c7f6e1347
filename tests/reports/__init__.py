"""Reports: what CI services, pages and people get to see."""
