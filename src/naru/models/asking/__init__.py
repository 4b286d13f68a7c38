"""From a request as the caller means it to one that the endpoint can take: tools, roles, media, grammars. Pure."""
