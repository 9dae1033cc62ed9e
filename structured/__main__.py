"""`python -m structured`: the same as the command `structured`."""

from structured.cli.commands import app

app(prog_name="structured")
