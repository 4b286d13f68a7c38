"""What stands before and behind every API for models: who asks, for what, what runs here, and the client's connection.

A face (`openai/`, …) reads its API's request into an `Asked` and writes events in its API's form; see `seam`.
"""
