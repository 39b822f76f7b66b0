"""`/handout`: any scenario on paper.

`query` reads what is asked for, `make` runs it, `tables` and `lines` lay a step out, `page` renders it.
"""
