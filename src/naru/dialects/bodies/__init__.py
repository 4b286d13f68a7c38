"""Body decoders: what stands between the markers of a dialect, as name and arguments."""
