"""What becomes of a patch after the verdict: into the tree, a commit, a branch, a pull request."""
