"""Declarations of the index spaces, one module per stage or two; see `app.trace.space` for what they say."""
