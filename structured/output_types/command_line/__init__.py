"""Command lines as an output type: the words of a shell, parsers of `argparse`, commands of Click and Typer."""
