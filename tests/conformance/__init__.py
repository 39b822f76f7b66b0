"""Recordings of vLLM's own kernels; `recordings.py` reads them, `README.md` says what they are."""
