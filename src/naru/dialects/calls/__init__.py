"""From what was read to a call of an offered tool: its name found, its arguments fitted, its events written."""
