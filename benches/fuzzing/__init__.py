"""Random scripts for teml, and what they compute, as NumPy says. `benches/fuzz.py` runs them."""
