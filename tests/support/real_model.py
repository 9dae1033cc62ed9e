"""A pretrained model to test with: SmolLM2-135M-Instruct as a GGUF file, which `structured fetch smollm2` brings."""

import os
from pathlib import Path

from structured.models.checkpoints import fetched_path

NAME = "smollm2"

VARIABLE = "STRUCTURED_REAL_MODEL"
"""The environment variable that may say where the file is."""

REAL_MODEL = Path(os.environ.get(VARIABLE) or fetched_path(NAME))
"""Where the file is, or would be; found out before tests have a cache folder of their own."""
