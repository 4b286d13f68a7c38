"""The rules of this installation: what may be registered, what is shown of it, what was approved."""
