"""Anthropic's Messages API: what Claude Code and the `anthropic` packages speak."""
