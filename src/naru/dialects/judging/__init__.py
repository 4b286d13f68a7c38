"""Whether a call is made or only shown: what stands round it, and the words of its sentence."""
