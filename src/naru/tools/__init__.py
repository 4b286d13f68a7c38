"""Everything that can be called, as Toolsets composed by wrapping; Python functions as tools."""
