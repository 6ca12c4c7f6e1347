"""The real program on small hostile projects: what went wrong in others must not go wrong here."""
