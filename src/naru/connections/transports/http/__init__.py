"""What goes over HTTP: both transports, the one client under them, and where it may go with which credentials."""
