"""Pages: what they show, and that nothing in them is obeyed."""
