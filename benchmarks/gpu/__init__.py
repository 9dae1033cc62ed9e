"""All that a GPU has to show, in one command: `python -m benchmarks.gpu`."""
