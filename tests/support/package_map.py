"""Where the packages are, and their order."""

from pathlib import Path

import structured

HOUSE = Path(structured.__file__).parent

PACKAGES = (
    *("errors", "regex", "machine_code", "vocabulary", "automata", "json_schema", "index", "output_types", "models"),
    *("decoding", "results", "extraction", "jobs", "integrations", "cli"),
)
"""In the order in which data goes through them; a module imports only from packages before its own, or from its own."""
