"""Numbers over steps: tokens, blocks and slots of the whole plan, without running it or beside what ran."""
