"""OpenAI's chat completions: requests read with every liberty that clients take, answers written by Naru alone."""
