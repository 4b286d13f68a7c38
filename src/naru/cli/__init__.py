"""The `naru` command; one file a command, loaded only when it is used."""
