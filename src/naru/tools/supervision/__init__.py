"""What stands round every call: a person's yes, deadlines that wait for it, the audit."""
