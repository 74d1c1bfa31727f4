"""One small router a resource."""
