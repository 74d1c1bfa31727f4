"""What another package can add to Turnloom; pyproject.toml says under which names."""
