"""Who asks, and what is held for them: sessions, requests under way, parked questions, what other hubs hold."""
