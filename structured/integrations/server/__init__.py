"""The library behind an HTTP interface: OpenAI's, vLLM's ways to constrain an answer, and the library's own."""
