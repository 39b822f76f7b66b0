"""The page itself, and what it says of itself to search engines and chat programs."""
