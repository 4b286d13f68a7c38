"""The browser console."""
