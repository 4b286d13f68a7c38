"""Ollama's API: what Open WebUI, Home Assistant, Obsidian's plugins and many others find models by."""
