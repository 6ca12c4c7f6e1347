"""Commands, called as people call them."""
