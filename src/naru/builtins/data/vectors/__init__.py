"""Similar documents (D2): a Chroma server over its REST API, or a local file with NumPy; one contract for both."""
