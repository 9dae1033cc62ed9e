"""`python -m structured`: the same as the command `structured`."""

from structured.cli.app import app

app(prog_name="structured")
