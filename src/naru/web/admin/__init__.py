"""What operators and admins do over HTTP: servers, keys, approvals, runs."""
