"""What several persons at one hub may see and use, and whose credentials go upstream (issue 21)."""
