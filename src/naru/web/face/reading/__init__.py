"""Requests read leniently: turns, parts, tools and choices, in the form of any API that a history came from."""
