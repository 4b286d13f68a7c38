"""The reader's course through a reply: where a call may begin, what is tried there, what is held till it is sure."""
