"""The console in the browser: its files, its lists, the playground."""
