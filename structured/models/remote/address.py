"""Addresses of models behind servers: `vllm://localhost:8000/Qwen/Qwen2.5-7B-Instruct`."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import unquote, urlsplit

from structured.errors import ModelError

PORTS = {"llamacpp": 8080, "ollama": 11434, "openai": None, "sglang": 30000, "structured": 8000, "vllm": 8000}
"""The kinds of servers, by their schemes, with the default port of each."""

_ADDRESS = re.compile(rf"(?P<server>{'|'.join(PORTS)})(?:\+(?P<transport>https?))?://", re.IGNORECASE)

_EXAMPLE = "vllm://localhost:8000/Qwen/Qwen2.5-7B-Instruct"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is: the kind of server, the transport, the host, and the model's name there."""

    server: str
    transport: str
    host: str
    """With its port, if the address names one or the server has a default."""
    model: str
    is_explicit: bool
    """Whether the address names the transport."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an address. Raises ModelError, which repeats no password."""
        match = _ADDRESS.match(text)
        if match is None:
            raise ModelError(
                f"An address of a model begins with {', '.join(f'{scheme}://' for scheme in PORTS)}: {_EXAMPLE}."
            )
        server, transport = match["server"].lower(), match["transport"]
        try:
            parts = urlsplit(f"//{text[match.end() :]}")
            port = parts.port
        except ValueError as error:
            raise ModelError(f"The address of the {server} server cannot be read: {error}. Write {_EXAMPLE}.") from None
        if "@" in parts.netloc:
            raise ModelError(
                f"The address of the {server} server has a user or a password, which results and logs would show. "
                "Pass the key as connect(…, api_key=…), or set its environment variable."
            )
        if not parts.hostname or parts.query or parts.fragment:
            raise ModelError(f"{text!r} is not the address of a model. Write it as {_EXAMPLE}.")
        if port is None and transport != "https":
            port = PORTS[server]
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        authority = host if port is None else f"{host}:{port}"
        model = unquote(parts.path.strip("/"))
        return cls(server, (transport or "http").lower(), authority, model, transport is not None)

    def __str__(self) -> str:
        suffix = f"+{self.transport}" if self.is_explicit else ""
        return f"{self.server}{suffix}://{self.host}{f'/{self.model}' if self.model else ''}"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"{self.transport}://{self.host}"

    @property
    def keeps_secrets(self) -> bool:
        """Whether nobody else can read a request: it is encrypted, or stays on this machine."""
        host = (urlsplit(self.url).hostname or "").rstrip(".")
        try:
            is_here = ip_address(host).is_loopback
        except ValueError:
            is_here = host == "localhost"
        return self.transport == "https" or is_here


def is_address(source: object) -> bool:
    """Tell whether this is the address of a model behind a server."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None
