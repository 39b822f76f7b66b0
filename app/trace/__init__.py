"""From tensors to data: every index space of a step and the relations between them.

`schema` declares the spaces and how a cell follows from others, `build` turns a pipeline record into the values of those
spaces, `checks` tests what must hold, and `trace` does all of it for a planned scenario.
"""
