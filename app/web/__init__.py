"""HTTP: the JSON API and the pages. Everything below speaks in Python objects."""
