"""Servers that no rule was made for, as plain functions."""
