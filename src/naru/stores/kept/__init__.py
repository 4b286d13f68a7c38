"""What is kept of the work: runs, answers, conversations, figures, spending, vectors."""
