"""Demo data for a machine with no database: BGA packages and the people who make them, in Korean and English (D7)."""
