"""From a scenario to its plan: every step walked, every default filled in, every fault of the schedule found."""
