"""The HR server (V5): documents, employees and vacations over SQLite."""
