"""What another package can add to Turnwise; pyproject.toml says under which names."""
