"""Six servers, questions in ten languages and conversations: the set by which help for small models is measured."""
