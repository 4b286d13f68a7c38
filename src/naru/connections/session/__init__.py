"""One conversation with a server: opened, negotiated, listened to, its lists read."""
