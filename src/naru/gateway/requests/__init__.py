"""What is answered: the methods of both eras and calls that go to a server, in any mix of eras."""
