"""From what a model wrote to events: text through the dialects' parser, native calls beside it. Pure."""
