"""Integrations: what needs the packages of extras, such as readers of files, the HTTP server, and data frames."""
