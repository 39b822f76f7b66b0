"""The format: fields and bounds (`model`), readers of JSON and YAML, the compact form and the link that hold one."""
