"""What is written down about what happens: the audit log, traces, log lines. Content stays out unless asked for."""
