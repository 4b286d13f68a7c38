"""How commands speak with a person: tables and lines, signs of life, questions, exit codes."""
