"""One backend per API that endpoints speak: its body, its stream, its session."""
