"""A small HTTP/1.1 client for the two hot paths, tool calls and model answers (decision 0123).

`pool` keeps the connections to one address, `connection` holds one exchange at a time, `reply` is what its caller
reads, `head` writes requests, `dial` opens connections, `inflate` bounds compressed bodies, `faults` says what can go
wrong. No redirects, cookies, proxies or retries of what may have run: callers decide those, or do without.
"""
