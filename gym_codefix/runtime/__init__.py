"""Installs repositories and runs their tests; knows nothing of tasks' answers or rewards."""
