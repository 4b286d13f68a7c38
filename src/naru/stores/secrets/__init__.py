"""What must not be seen: found in text and records, sealed, kept as a hash."""
