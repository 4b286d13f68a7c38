"""Bodies of tags: the elements of a call, of its arguments and their values, how each ends, and what slips leave."""
