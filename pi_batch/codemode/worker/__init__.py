"""The process that a script runs in: zygote, lock-down, frames, and the host's side of it."""
