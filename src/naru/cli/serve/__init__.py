"""`naru serve` and everything that listens."""
