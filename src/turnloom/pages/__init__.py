"""Self-contained HTML pages: no script, nothing loaded from anywhere, light and dark, on paper and on a phone."""
