"""What every route needs of HTTP: bodies, paths, HEAD, errors as problem details, how much is computed at once."""
