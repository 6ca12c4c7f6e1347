"""Names to objects: here the rooms and the engine meet; the only reader of environment and secrets."""
