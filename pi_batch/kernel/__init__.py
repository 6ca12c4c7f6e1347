"""What Linux offers to lock a process down, by its system calls: no package, no library of our own in C."""
