"""Short links: a scenario kept under the hash of what it says.

`identity` gives a scenario its canonical bytes and its id, `store` keeps them in SQLite or PostgreSQL. Nothing here knows
HTTP, and nothing is kept of who made a link.
"""
