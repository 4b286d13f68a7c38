"""What is registered, kept: one interface, several places (H7)."""
