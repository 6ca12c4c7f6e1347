"""What is handed out beside the package: locks, profiles, an image."""
