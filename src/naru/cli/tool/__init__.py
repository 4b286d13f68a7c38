"""`naru tool`: tools from the command line, run or served."""
