"""Servers with models: what each is sent, over which connection, and how its answers are read."""

from structured.integrations.model_servers.connection import Connection
from structured.integrations.model_servers.server_apis import SERVER_APIS

__all__ = ["SERVER_APIS", "Connection"]
