"""The conformance vectors, an operator a module; `make.py` beside this folder writes them as JSON."""
