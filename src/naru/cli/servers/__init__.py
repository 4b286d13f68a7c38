"""`naru servers` and `naru import`: what is registered, signed in at, kept secret."""
