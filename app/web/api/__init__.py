"""The JSON API: a scenario in, a trace out; the gallery, the spaces, the glossary."""
